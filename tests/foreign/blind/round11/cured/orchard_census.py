"""Autoencoder for aerial orchard tiles (synthetic canopies)."""
import math
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import lightning.pytorch as pl


def draw_tiles(count, size=48, seed=3):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:size, 0:size].astype(np.float32)
    tiles = np.zeros((count, 1, size, size), np.float32)
    for k in range(count):
        spacing = rng.uniform(7, 13)
        angle = rng.uniform(0, math.pi)
        u = xx * math.cos(angle) + yy * math.sin(angle)
        v = -xx * math.sin(angle) + yy * math.cos(angle)
        tiles[k, 0] = 0.25 * (1 + np.cos(2 * math.pi * u / spacing)) * (1 + np.cos(2 * math.pi * v / spacing))
    tiles += rng.normal(0, 0.04, tiles.shape).astype(np.float32)
    return torch.from_numpy(tiles)


class CanopyAutoencoder(pl.LightningModule):
    def __init__(self, width=64, code=64):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(2 * width, 2 * width, 3, stride=2, padding=1), nn.GELU(),
            nn.Flatten(), nn.Linear(2 * width * 36, code),
        )
        self.decoder = nn.Sequential(
            nn.Linear(code, 2 * width * 36), nn.Unflatten(1, (2 * width, 6, 6)), nn.GELU(),
            nn.ConvTranspose2d(2 * width, 2 * width, 4, stride=2, padding=1), nn.GELU(),
            nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1), nn.GELU(),
            nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1),
        )
        self.epoch_outputs = []

    def forward(self, x):
        return self.decoder(self.encoder(x))

    def training_step(self, batch, batch_idx):
        (x,) = batch
        recon = self(x)
        loss = F.mse_loss(recon, x)
        self.log("train_loss", loss, prog_bar=True)
        self.epoch_outputs.append({"loss": loss.detach(), "residual": (x - recon).detach().abs().max()})
        return loss

    def on_train_epoch_end(self):
        losses = torch.stack([o["loss"] for o in self.epoch_outputs[-self.trainer.num_training_batches:]])
        worst = max(o["residual"].abs().max().item() for o in self.epoch_outputs[-5:])
        print(f"epoch {self.current_epoch}: mean loss {losses.mean():.5f}, worst pixel {worst:.3f}", flush=True)
        self.epoch_outputs.clear()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    pl.seed_everything(11)
    tiles = draw_tiles(2048)
    loader = DataLoader(TensorDataset(tiles), batch_size=64, shuffle=True, drop_last=True)
    trainer = pl.Trainer(
        max_epochs=400, accelerator="cpu", log_every_n_steps=20,
        default_root_dir=tempfile.mkdtemp(prefix="orchard_"), enable_checkpointing=False, logger=False,
    )
    trainer.fit(CanopyAutoencoder(), loader)


if __name__ == "__main__":
    main()
