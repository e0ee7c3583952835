# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: the loss oscillates around its floor, a checkpoint is kept once per epoch and the validation once per epoch takes a moment; everything a worried user points at, and all of it small.
import logging
import tempfile
import time
import warnings

import numpy as np
import torch
import lightning as L
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
FEATURES = 64


def make_wines(n):
    rng = np.random.default_rng(53)
    chemistry = rng.normal(size=(n, FEATURES)).astype("float32")
    taste = chemistry[:, :8].sum(axis=1) + np.sin(2 * chemistry[:, 9]) + rng.normal(0, 1.0, n)
    return TensorDataset(torch.from_numpy(chemistry), torch.from_numpy(taste[:, None].astype("float32")))


class Sommelier(L.LightningModule):
    def __init__(self, width=384):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(FEATURES, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                 nn.Dropout(0.2), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))
        self.started = time.time()

    def training_step(self, batch, index):
        loss = nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        if self.global_step % 10 == 0:
            print(f"step {self.global_step}  loss {loss.item():.4f}  {time.time() - self.started:.1f} s", flush=True)
        return loss

    def validation_step(self, batch, index):
        self.log("val_loss", nn.functional.mse_loss(self.net(batch[0]), batch[1]), prog_bar=True)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=5e-4)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)]


def main():
    L.seed_everything(7)
    folder = tempfile.mkdtemp(prefix="wines_")
    train = DataLoader(make_wines(12800), batch_size=256, shuffle=True)
    val = DataLoader(make_wines(4096), batch_size=512)
    trainer = L.Trainer(max_epochs=100, accelerator="cpu", enable_progress_bar=False, enable_model_summary=False,
                        logger=CSVLogger(folder), log_every_n_steps=50,
                        callbacks=[ModelCheckpoint(folder, monitor="val_loss", save_top_k=2), LearningRateMonitor()])
    trainer.fit(Sommelier(), train, val)


if __name__ == "__main__":
    main()
