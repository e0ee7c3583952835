# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# env: OMP_WAIT_POLICY=PASSIVE
# Why: two losses that go up and down against each other and never settle: that is what a GAN's losses do. Steps are steady; a checkpoint is
# written now and then.
import tempfile
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
try:
    import lightning.pytorch as pl
    from lightning.pytorch.callbacks import ModelCheckpoint
except ImportError:
    import pytorch_lightning as pl
    from pytorch_lightning.callbacks import ModelCheckpoint

Z = 32


def textures(n):
    g = torch.Generator().manual_seed(1)
    t = torch.arange(32).float()
    fx, fy = 0.2 + torch.rand(2, n, 1, 1, generator=g)
    image = torch.sin(fx * t[None, None, :] + fy * t[None, :, None])
    return TensorDataset((image + 0.05 * torch.randn(n, 32, 32, generator=g))[:, None].clamp(-1, 1))


class GAN(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.gen = nn.Sequential(
            nn.Linear(Z, 64 * 64), nn.Unflatten(1, (64, 8, 8)), nn.BatchNorm2d(64), nn.ReLU(),
            nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.ConvTranspose2d(32, 1, 4, 2, 1), nn.Tanh())
        self.disc = nn.Sequential(
            nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(64 * 64, 1))
        self.seen = 0

    def training_step(self, batch, batch_idx):
        (real,) = batch
        opt_g, opt_d = self.optimizers()
        fake = self.gen(torch.randn(len(real), Z))
        d_loss = F.softplus(-self.disc(real)).mean() + F.softplus(self.disc(fake.detach())).mean()
        opt_d.zero_grad()
        self.manual_backward(d_loss)
        opt_d.step()
        g_loss = F.softplus(-self.disc(fake)).mean()
        opt_g.zero_grad()
        self.manual_backward(g_loss)
        opt_g.step()
        self.seen += 1
        if self.seen % 20 == 0:
            print(f"step {self.seen} d_loss {d_loss.item():.4f} g_loss {g_loss.item():.4f}", flush=True)

    def configure_optimizers(self):
        return (torch.optim.Adam(self.gen.parameters(), lr=2e-4, betas=(0.5, 0.999)),
                torch.optim.Adam(self.disc.parameters(), lr=1e-4, betas=(0.5, 0.999)))


loader = DataLoader(textures(6000), batch_size=64, shuffle=True, drop_last=True)
save = ModelCheckpoint(dirpath=tempfile.mkdtemp(), every_n_epochs=2, save_top_k=-1)
trainer = pl.Trainer(max_epochs=300, accelerator="cpu", logger=False, callbacks=[save],
                     enable_progress_bar=False, enable_model_summary=False)
trainer.fit(GAN(), loader)
