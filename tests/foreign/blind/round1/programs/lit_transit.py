# python: loops
# expected: waits-for-file-lock
# verdict: stuck|not-started
# seconds: 30
# where: fcntl.flock / with locked(
# Why: the indexing helper takes the lock on the cache folder and never lets go, as it keeps serving; the data module waits for the same lock before it reads the timetable.
import contextlib
import fcntl
import logging
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import torch
import lightning as L
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
INDEXER = r'''
import fcntl, os, signal, sys
lock = open(os.path.join(sys.argv[1], ".lock"), "w")
fcntl.flock(lock, fcntl.LOCK_EX)
names = sorted(os.listdir(sys.argv[1]))
with open(os.path.join(sys.argv[1], "index.txt"), "w") as out:
    out.write("\n".join(names))
print("indexed", len(names), flush=True)
sys.stdin.read()
'''


@contextlib.contextmanager
def locked(folder):
    with open(os.path.join(folder, ".lock"), "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


class Timetable(L.LightningDataModule):
    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def setup(self, stage):
        with locked(self.folder):
            rides = np.load(os.path.join(self.folder, "rides.npy"))
        self.rides = TensorDataset(torch.from_numpy(rides[:, :-1]), torch.from_numpy(rides[:, -1:]))

    def train_dataloader(self):
        return DataLoader(self.rides, batch_size=128, shuffle=True)


class DelayModel(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(30, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))

    def training_step(self, batch, index):
        loss = nn.functional.mse_loss(self.net(batch[0]), batch[1])
        if self.global_step % 50 == 0:
            print(f"step {self.global_step}  loss {loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    L.seed_everything(3)
    folder = tempfile.mkdtemp(prefix="transit_")
    rng = np.random.default_rng(3)
    features = rng.normal(size=(20000, 30))
    delay = np.abs(features[:, :4]).sum(axis=1, keepdims=True) + rng.normal(0, 0.2, (20000, 1))
    np.save(os.path.join(folder, "rides.npy"), np.hstack([features, delay]).astype("float32"))
    indexer = subprocess.Popen([sys.executable, "-c", INDEXER, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    print(indexer.stdout.readline().decode().strip(), flush=True)
    trainer = L.Trainer(max_epochs=200, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(DelayModel(), datamodule=Timetable(folder))
    indexer.stdin.close()


if __name__ == "__main__":
    main()
