# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: small noisy batches, a validation and a checkpoint now and then, a learning rate that first climbs, no workers:
# Why: but the data are in memory, the model is nearly all of the time and the loss falls.
"""Types of stars from their spectra."""
import tempfile

import lightning.pytorch as pl
import numpy as np
import torch
from lightning.pytorch.callbacks import ModelCheckpoint, TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

TYPES, PIXELS = 7, 512


def spectra(count, seed):
    rng = np.random.default_rng(seed)
    wave = np.linspace(380, 780, PIXELS)
    kind = rng.integers(0, TYPES, count)
    heat = 3500 + 3500 * kind[:, None] ** 1.2 + rng.normal(0, 900, (count, 1))
    light = 1 / (wave / 500) ** 5 / (np.exp(np.minimum(1.4388e7 / wave / heat, 60)) - 1)
    light = light / light.mean(1, keepdims=True)
    for line, strong in ((656, 3), (486, 3), (434, 4), (589, 0), (430, 1), (517, 1), (447, 6)):
        depth = 0.4 * np.exp(-0.5 * (kind - strong) ** 2)[:, None] * rng.uniform(0.5, 1.2, (count, 1))
        light *= 1 - depth * np.exp(-0.5 * ((wave - line) / 2.5) ** 2)
    light += rng.normal(0, 0.15, light.shape)
    kind = np.where(rng.random(count) < 0.08, rng.integers(0, TYPES, count), kind)
    return torch.tensor(light[:, None], dtype=torch.float32), torch.tensor(kind)


class Sky(pl.LightningDataModule):
    def setup(self, stage):
        self.train = TensorDataset(*spectra(3200, 1))
        self.held = TensorDataset(*spectra(400, 2))

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=16, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.held, batch_size=100)


class Typer(pl.LightningModule):
    def __init__(self, steps):
        super().__init__()
        self.steps = steps
        self.net = nn.Sequential(
            nn.Conv1d(1, 24, 9, padding=4), nn.GELU(), nn.MaxPool1d(2),
            nn.Conv1d(24, 48, 9, padding=4), nn.GELU(), nn.MaxPool1d(2),
            nn.Conv1d(48, 64, 9, padding=4), nn.GELU(), nn.AdaptiveAvgPool1d(8), nn.Flatten(),
            nn.Dropout(0.3), nn.Linear(512, 64), nn.GELU(), nn.Linear(64, TYPES))

    def training_step(self, batch, batch_idx):
        light, kind = batch
        loss = nn.functional.cross_entropy(self.net(light), kind, label_smoothing=0.05)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        light, kind = batch
        out = self.net(light)
        self.log("val_loss", nn.functional.cross_entropy(out, kind), prog_bar=True)
        self.log("val_acc", (out.argmax(1) == kind).float().mean(), prog_bar=True)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-3)
        plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.5e-3, total_steps=self.steps, pct_start=0.02)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": plan, "interval": "step"}}


def main():
    pl.seed_everything(3)
    epochs = 150
    folder = tempfile.mkdtemp(prefix="stars-")
    keep = ModelCheckpoint(dirpath=folder, monitor="val_loss", save_top_k=1, save_last=True)
    trainer = pl.Trainer(max_epochs=epochs, accelerator="cpu", devices=1, logger=False, gradient_clip_val=1.0,
                         callbacks=[keep, TQDMProgressBar(refresh_rate=10)])
    trainer.fit(Typer(steps=epochs * 200), datamodule=Sky())
    print("best", keep.best_model_path)


if __name__ == "__main__":
    main()
