# python: loops
# expected: learning-rate [also accepted: loss-frozen, weights-not-updated]
# verdict: healthy|slow|stuck
# seconds: 35
# env: OMP_WAIT_POLICY=PASSIVE
# where: ExponentialLR / "interval"
# Why: the decay of 0.9 per epoch is applied after every step because the scheduler's interval is "step"; after a few hundred steps the learning
# rate is nothing and the loss stays where it is, high.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
try:
    import lightning.pytorch as pl
except ImportError:
    import pytorch_lightning as pl

BANDS, DATES, CROPS = 10, 24, 9


def fields(n, seed=0):
    g = torch.Generator().manual_seed(seed)
    crop = torch.randint(0, CROPS, (n,), generator=g)
    curves = torch.randn(CROPS, BANDS, DATES, generator=torch.Generator().manual_seed(99)).cumsum(-1) * 0.2
    shift = torch.randint(0, 5, (n,), generator=g)
    x = torch.stack([torch.roll(curves[c], int(s), dims=-1) for c, s in zip(crop, shift)])
    return x + 0.8 * torch.randn(n, BANDS, DATES, generator=g), crop


class CropNet(pl.LightningModule):
    def __init__(self, lr=1e-3, decay=0.9):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Conv1d(BANDS, 96, 5, padding=2), nn.ReLU(),
            nn.Conv1d(96, 96, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(96, 128, 3, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(128, CROPS))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        if self.global_step % 20 == 0:
            lr = self.optimizers().param_groups[0]["lr"]
            print(f"epoch {self.current_epoch} step {self.global_step} loss {loss.item():.4f} lr {lr:.2e}", flush=True)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=self.hparams.decay)
        return {"optimizer": optimizer,
                "lr_scheduler": {"scheduler": scheduler, "interval": "epoch"}}


loader = DataLoader(TensorDataset(*fields(6400)), batch_size=64, shuffle=True, drop_last=True)
trainer = pl.Trainer(max_epochs=200, accelerator="cpu", logger=False, enable_checkpointing=False,
                     enable_progress_bar=False, enable_model_summary=False)
trainer.fit(CropNet(lr=0.02), loader)
