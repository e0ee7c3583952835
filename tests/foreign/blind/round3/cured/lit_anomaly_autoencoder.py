# python: loops
# expected: hidden-validation [also accepted: slow-callback]
# verdict: slow
# seconds: 40
# env: OMP_WAIT_POLICY=PASSIVE
# where: val_check_interval / trainer.fit( / validation_step
# Why: val_check_interval=25 was copied from a run with long epochs; here a whole validation of several hundred batches runs after every 25 steps.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
try:
    import lightning.pytorch as pl
except ImportError:
    import pytorch_lightning as pl

CHANNELS, WINDOW = 8, 128


def telemetry(n, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.linspace(0, 6.28, WINDOW)
    freq = torch.randint(1, 9, (n, CHANNELS, 1), generator=g)
    phase = 6.28 * torch.rand(n, CHANNELS, 1, generator=g)
    return torch.sin(freq * t + phase) + 0.1 * torch.randn(n, CHANNELS, WINDOW, generator=g)


class AutoEncoder(pl.LightningModule):
    def __init__(self, width=48):
        super().__init__()
        self.save_hyperparameters()
        self.encode = nn.Sequential(
            nn.Conv1d(CHANNELS, width, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(width, width, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(width, 8, 7, stride=2, padding=3))
        self.decode = nn.Sequential(
            nn.ConvTranspose1d(8, width, 8, stride=2, padding=3), nn.ReLU(),
            nn.ConvTranspose1d(width, width, 8, stride=2, padding=3), nn.ReLU(),
            nn.ConvTranspose1d(width, CHANNELS, 8, stride=2, padding=3))

    def forward(self, x):
        return self.decode(self.encode(x))

    def training_step(self, batch, batch_idx):
        (x,) = batch
        loss = F.mse_loss(self(x), x)
        if self.global_step % 10 == 0:
            print(f"step {self.global_step} loss {loss.item():.4f}", flush=True)
        return loss

    def validation_step(self, batch, batch_idx):
        (x,) = batch
        error = ((self(x) - x) ** 2).mean(dim=(1, 2))
        self.log("val_error", error.mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


train = DataLoader(TensorDataset(telemetry(6400, 0)), batch_size=32, shuffle=True)
valid = DataLoader(TensorDataset(telemetry(6000, 1)), batch_size=16)
trainer = pl.Trainer(
    max_epochs=100,
    accelerator="cpu",
    val_check_interval=1.0,
    check_val_every_n_epoch=10,
    num_sanity_val_steps=0,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(AutoEncoder(), train, valid)
