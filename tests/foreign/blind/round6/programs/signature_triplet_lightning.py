# python: loops
# expected: nan-loss
# verdict: healthy|slow
# seconds: 25
# where: .sqrt() / sqrt
# Why: the derivative of sqrt at the zero distances of the diagonal is infinite, and infinity times zero is NaN; after the first step
#   every weight is NaN.
"""Whose signature is it? Embedding with batch-hard triplets."""
import logging
import warnings

import torch
import torch.nn.functional as F
from lightning.pytorch import LightningDataModule, LightningModule, Trainer, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def distances(e):
    apart = e[:, None, :] - e[None, :, :]
    return apart.pow(2).sum(-1).sqrt()


def batch_hard(e, who, margin=0.3):
    d = distances(e)
    same = who[:, None] == who[None, :]
    positive = d.masked_fill(~same, 0.0).max(1).values
    negative = d.masked_fill(same, 1e4).min(1).values
    return F.relu(positive - negative + margin).mean()


class Signatures(LightningDataModule):
    def __init__(self, people=24, each=80):
        super().__init__()
        g = torch.Generator().manual_seed(8)
        strokes = 0.5 + 0.25 * torch.randn(people, 1, 12, 24, generator=g)
        x = F.interpolate(strokes, size=(48, 96), mode="bilinear").repeat_interleave(each, 0)
        self.x = x + 0.3 * torch.randn(x.shape, generator=g)
        self.who = torch.arange(people).repeat_interleave(each)

    def train_dataloader(self):
        return DataLoader(TensorDataset(self.x, self.who), batch_size=48, shuffle=True, drop_last=True)


class Encoder(LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 5, stride=2, padding=2), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(64 * 6 * 12, 64))

    def forward(self, x):
        return F.normalize(self.body(x), dim=1)

    def training_step(self, batch, batch_idx):
        x, who = batch
        loss = batch_hard(self(x), who)
        self.log("triplet_loss", loss, prog_bar=True)
        if self.global_step % 10 == 0:
            self.print(f"step {self.global_step} triplet loss {loss.item():.5f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-4)


if __name__ == "__main__":
    seed_everything(8)
    trainer = Trainer(accelerator="cpu", max_epochs=5000, logger=False, enable_checkpointing=False, enable_model_summary=False)
    trainer.fit(Encoder(), datamodule=Signatures())
