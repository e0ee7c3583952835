# python: loops
# truth: fetch=waits for data, step=computes, turn=waits for file lock, check=validates, other=runs own code
# Why: Lightning with one slow DataLoader worker, and a ledger that a second station keeps for itself for long.
import fcntl
import os
import subprocess
import sys
import tempfile

import numpy as np
import pytorch_lightning as lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

import stopwatch

STATION = """
import fcntl, os, sys, time
parent = os.getppid()
with open(sys.argv[1], "a") as ledger:
    while os.getppid() == parent:
        fcntl.lockf(ledger, fcntl.LOCK_EX)
        time.sleep(0.5)
        fcntl.lockf(ledger, fcntl.LOCK_UN)
        time.sleep(1.1)
"""


class Gauges(Dataset):
    def __len__(self):
        return 64_000

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        level = np.cumsum(rng.normal(size=4_096))
        tide = np.zeros(4_096)
        for period in range(3, 24):
            tide += np.sin(np.arange(4_096) / period + rng.random()) / period
        smooth = np.convolve(level + 20 * tide, np.hanning(65), mode="same")[::16].astype(np.float32)
        smooth /= np.abs(smooth).max() + 1
        return smooth[:240], smooth[240:]


class Turns:
    """The loader, with a watch on how long each batch is in coming."""

    def __init__(self, loader):
        self.loader = loader

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        batches = iter(self.loader)
        while True:
            with stopwatch.part("fetch"):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch


class Forecast(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.levels = nn.LSTM(8, 128, num_layers=2, batch_first=True)
        self.head = nn.Linear(128, 16)

    def forward(self, past):
        return self.head(self.levels(past.view(len(past), 30, 8))[0][:, -1])

    def training_step(self, batch, index):
        return nn.functional.mse_loss(self(batch[0]), batch[1])

    def validation_step(self, batch, index):
        return nn.functional.mse_loss(self(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


class Watch(lightning.Callback):
    def on_train_batch_start(self, trainer, module, batch, index):
        if trainer.global_step == 0:
            stopwatch.started()
            stopwatch.enter("other")  # stays open underneath
        stopwatch.enter("step")

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        stopwatch.leave()

    def on_validation_start(self, trainer, module):
        stopwatch.enter("check")

    def on_validation_end(self, trainer, module):
        stopwatch.leave()


class Ledger(lightning.Callback):
    def __init__(self, path):
        self.book = open(path, "a")

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        if index % 3 == 2:
            with stopwatch.part("turn"):
                fcntl.lockf(self.book, fcntl.LOCK_EX)
            self.book.write(f"{trainer.global_step} {float(outputs['loss']):.5f}\n")
            self.book.flush()
            fcntl.lockf(self.book, fcntl.LOCK_UN)


def main():
    torch.set_num_threads(1)
    lightning.seed_everything(9)
    path = os.path.join(tempfile.mkdtemp(), "ledger.txt")
    ledger = Ledger(path)
    subprocess.Popen([sys.executable, "-c", STATION, path])
    gauges = Gauges()
    kept = [gauges[70_000 + i] for i in range(64)]
    kept = TensorDataset(*(torch.from_numpy(np.stack(side)).repeat(8, 1) for side in zip(*kept)))
    trainer = lightning.Trainer(
        accelerator="cpu", max_epochs=100, val_check_interval=20, num_sanity_val_steps=0, logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, callbacks=[Watch(), ledger])
    trainer.fit(Forecast(), Turns(DataLoader(gauges, batch_size=32, num_workers=1, drop_last=True)),
                DataLoader(kept, batch_size=64))


if __name__ == "__main__":
    main()
