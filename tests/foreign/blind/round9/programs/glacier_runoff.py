# python: loops
# expected: worker-deadlock
# verdict: not-started | stuck
# seconds: 30
# where: with self.lock
# Why: a thread fills the station cache and holds the data set's lock while Lightning forks the loader's workers; each worker has
# inherited a closed lock and no thread that would ever open it, so the first batch never comes.
"""Next-day runoff from hourly temperature, radiation and snow height at glacier stations."""
import argparse
import csv
import datetime as dt
import os
import tempfile
import threading

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
import lightning.pytorch as pl

STATIONS = ["aletsch", "gorner", "findelen", "rhone", "trient", "zinal", "ferpecle", "corbassiere"]


def write_stations(folder, hours, seed=4):
    rng = np.random.default_rng(seed)
    start = dt.datetime(2009, 1, 1)
    stamps = [(start + dt.timedelta(hours=h)).strftime("%Y-%m-%d %H:%M:%S") for h in range(hours)]
    for name in STATIONS:
        t = np.arange(hours)
        temp = 8 * np.sin(2 * np.pi * t / 8766) + 3 * np.sin(2 * np.pi * t / 24) + rng.normal(0, 1, hours)
        rad = np.clip(np.sin(2 * np.pi * t / 24), 0, None) * rng.uniform(0.3, 1, hours)
        snow = np.clip(-temp, 0, None).cumsum() / (1 + t) + rng.normal(0, 0.1, hours)
        with open(os.path.join(folder, name + ".csv"), "w") as f:
            f.writelines(f"{s},{a:.2f},{b:.3f},{c:.3f}\n" for s, a, b, c in zip(stamps, temp, rad, snow))


class StationSet(Dataset):
    def __init__(self, folder, window=72, length=60000):
        self.folder, self.window, self.length = folder, window, length
        self.lock = threading.Lock()
        self.series = {}

    def preload(self):
        with self.lock:
            for name in STATIONS:
                self.series[name] = self.read(name)

    def read(self, name):
        rows = []
        with open(os.path.join(self.folder, name + ".csv")) as f:
            for stamp, temp, rad, snow in csv.reader(f):
                when = dt.datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S")
                season = np.sin(2 * np.pi * when.timetuple().tm_yday / 365.25)
                rows.append((float(temp) / 10, float(rad), float(snow), season))
        return np.asarray(rows, np.float32)

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        name = STATIONS[i % len(STATIONS)]
        with self.lock:
            series = self.series.get(name)
            if series is None:
                series = self.series[name] = self.read(name)
        at = (i * 7919) % (len(series) - self.window - 24)
        x = series[at:at + self.window]
        ahead = series[at + self.window:at + self.window + 24]
        melt = np.clip(ahead[:, 0], 0, None).sum() / 10 + ahead[:, 1].sum() / 20
        return x, np.float32(melt)


class Runoff(pl.LightningModule):
    def __init__(self, hidden=96, lr=1e-3):
        super().__init__()
        self.lr = lr
        self.rnn = nn.GRU(4, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1]).squeeze(-1)

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.mse_loss(self(x), y)
        if self.global_step % 10 == 0:
            print(f"step {self.global_step} loss {loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--hours", type=int, default=42000)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--epochs", type=int, default=30)
    args = p.parse_args()
    pl.seed_everything(11)
    with tempfile.TemporaryDirectory() as folder:
        write_stations(folder, args.hours)
        print(f"{len(STATIONS)} stations, {args.hours} hours each")
        data = StationSet(folder)
        threading.Thread(target=data.preload, daemon=True).start()
        loader = DataLoader(data, args.batch, shuffle=True, num_workers=args.workers, persistent_workers=True)
        trainer = pl.Trainer(max_epochs=args.epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
                             enable_progress_bar=False)
        trainer.fit(Runoff(), loader)


if __name__ == "__main__":
    main()
