# python: loops
# expected: hidden-validation [also accepted: slow-callback]
# verdict: slow
# seconds: 40
# where: val_check_interval / trainer.fit
# Why: val_check_interval=2 was read as "every second epoch"; it means a whole pass over the validation reef after every second batch, and with the progress bar off nothing says so.
import logging
import time
import warnings

import numpy as np
import torch
import lightning as L
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
SIDE, KINDS = 32, 6


def make_reef(n, seed):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, KINDS, n)
    tint = np.random.default_rng(0).normal(0, 0.6, (KINDS, 3, 4, 4)).repeat(8, axis=2).repeat(8, axis=3)
    pictures = tint[kind] + rng.normal(0, 0.8, (n, 3, SIDE, SIDE))
    return TensorDataset(torch.from_numpy(pictures.astype("float32")), torch.from_numpy(kind))


class CoralNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 24, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(192, KINDS))
        self.started = time.time()

    def training_step(self, batch, index):
        pictures, kind = batch
        loss = nn.functional.cross_entropy(self.net(pictures), kind)
        if self.global_step % 2 == 0:
            print(f"step {self.global_step}  loss {loss.item():.4f}  {time.time() - self.started:.1f} s", flush=True)
        return loss

    def validation_step(self, batch, index):
        pictures, kind = batch
        self.log("val_loss", nn.functional.cross_entropy(self.net(pictures), kind))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    L.seed_everything(1)
    train = DataLoader(make_reef(3200, 1), batch_size=32, shuffle=True)
    reef = DataLoader(make_reef(960, 2), batch_size=64)
    trainer = L.Trainer(max_epochs=100, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False,
                        val_check_interval=2, num_sanity_val_steps=0)
    trainer.fit(CoralNet(), train, reef)


if __name__ == "__main__":
    main()
