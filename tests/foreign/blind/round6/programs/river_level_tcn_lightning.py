# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: a validation over a whole year now and then, which takes a second or two, and a DataLoader without workers over tensors in
#   memory, of which Lightning warns: neither costs anything that matters.
import logging
import tempfile

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

GAUGES, HOURS = 12, 168


class Residual(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.pad = nn.ConstantPad1d((2 * dilation, 0), 0.0)
        self.conv = nn.Conv1d(width, width, 3, dilation=dilation)
        self.mix = nn.Conv1d(width, width, 1)

    def forward(self, x):
        return x + self.mix(torch.relu(self.conv(self.pad(x))))


class RiverTCN(pl.LightningModule):
    def __init__(self, width=64):
        super().__init__()
        self.save_hyperparameters()
        self.inlet = nn.Conv1d(GAUGES, width, 1)
        self.body = nn.Sequential(*[Residual(width, 2 ** k) for k in range(6)])
        self.outlet = nn.Linear(width, GAUGES)

    def forward(self, x):
        return self.outlet(self.body(self.inlet(x))[..., -1])

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.huber_loss(self(x), y)
        self.log("train_huber", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_huber", nn.functional.huber_loss(self(x), y), prog_bar=True)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=1e-3)
        return [opt], [torch.optim.lr_scheduler.ExponentialLR(opt, 0.98)]


class Rivers(pl.LightningDataModule):
    def __init__(self, batch=64):
        super().__init__()
        self.batch = batch
        self.train = self.make(9600, 1)
        self.val = self.make(3200, 2)

    @staticmethod
    def make(n, seed):
        g = torch.Generator().manual_seed(seed)
        level = torch.rand(HOURS + 1, n, GAUGES, generator=g).pow(6)
        for h in range(1, HOURS + 1):
            level[h] += 0.9 * level[h - 1]
        return TensorDataset(level[:HOURS].permute(1, 2, 0).contiguous(), level[HOURS].clone())

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.batch, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, batch_size=4 * self.batch)


if __name__ == "__main__":
    pl.seed_everything(3)
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    folder = tempfile.mkdtemp(prefix="river_")
    keep = ModelCheckpoint(dirpath=folder, monitor="val_huber", save_top_k=1)
    trainer = pl.Trainer(accelerator="cpu", max_epochs=2000, logger=False, callbacks=[keep], default_root_dir=folder)
    trainer.fit(RiverTCN(), datamodule=Rivers())
