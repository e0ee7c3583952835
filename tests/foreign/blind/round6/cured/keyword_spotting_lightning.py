# python: loops
# expected: epoch-never-ends
# verdict: healthy|slow
# seconds: 30
# where: while True / trainer.fit
# Why: the IterableDataset never stops and the Trainer has no limit_train_batches: epoch 0 never ends, validation and early
#   stopping never happen.
"""Keyword spotting (ten words) from log-mel pictures, with Lightning."""
import warnings

import numpy as np
import torch
from lightning.pytorch import LightningModule, Trainer, seed_everything
from lightning.pytorch.callbacks import EarlyStopping
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

warnings.filterwarnings("ignore")


def recordings(n, seed):
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 10, n)
    mel = rng.normal(0, 1, (n, 40, 64)).astype(np.float32)
    frame = np.arange(64)
    for k, w in enumerate(words):
        track = (6 + 3 * w + 4 * np.sin(frame / (4 + w) + rng.uniform(0, 6))).astype(int) % 40
        mel[k, track, frame] += 2.0
    return mel, words.astype(np.int64)


class SpokenWords(IterableDataset):
    """Random recordings, shifted a little in time."""

    def __init__(self, mel, words):
        self.mel, self.words = mel, words
        self.rng = np.random.default_rng(1)

    def __iter__(self):
        while True:
            k = self.rng.integers(len(self.words))
            shift = int(self.rng.integers(-6, 7))
            yield np.roll(self.mel[k], shift, axis=1), self.words[k]


class Spotter(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(32 * 10 * 16, 10))

    def step(self, batch):
        mel, word = batch
        out = self.net(mel[:, None])
        return nn.functional.cross_entropy(out, word), (out.argmax(1) == word).float().mean()

    def training_step(self, batch, _):
        loss, acc = self.step(batch)
        self.log_dict({"loss_train": loss, "acc_train": acc}, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        loss, acc = self.step(batch)
        self.log_dict({"val_loss": loss, "val_acc": acc}, prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=5e-4)


if __name__ == "__main__":
    seed_everything(1)
    mel, words = recordings(3200, 1)
    held, held_words = recordings(400, 2)
    train = DataLoader(SpokenWords(mel, words), batch_size=32)
    val = DataLoader(TensorDataset(torch.from_numpy(held), torch.from_numpy(held_words)), batch_size=100)
    trainer = Trainer(accelerator="cpu", max_epochs=200, limit_train_batches=60, num_sanity_val_steps=0, logger=False, enable_checkpointing=False,
                      callbacks=[EarlyStopping("val_loss", patience=100)])
    trainer.fit(Spotter(), train, val)
