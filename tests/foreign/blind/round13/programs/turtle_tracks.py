# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: nothing is wrong. The likelihood goes below zero and jumps about, Lightning complains of a loader without workers
# (the data lie in memory, handed over in whole batches), weights are averaged, a short validation comes every epoch.
"""Where does a sea turtle surface next? A GRU gives the mean and the spread of the next displacement (Lightning)."""
import copy
import os
import tempfile

import lightning as L
import numpy as np
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn

PAST, FEATURES = 20, 5


def swim(count, seed):
    rng = np.random.default_rng(seed)
    heading, speed = rng.uniform(0, 2 * np.pi, count), rng.gamma(4, 0.25, count)
    current = rng.normal(0, 0.3, (count, 2))
    rows = []
    for hour in range(PAST + 1):
        resting = rng.random(count) < 0.25
        heading = heading + rng.normal(0, 0.15, count)
        pace = np.where(resting, 0.05, speed)
        move = pace[:, None] * np.stack([np.cos(heading), np.sin(heading)], 1) + current
        move += rng.normal(0, 0.05, move.shape)
        clock = np.full(count, 2 * np.pi * hour / 24)
        rows.append(np.column_stack([move, resting, np.sin(clock), np.cos(clock)]))
    series = np.stack(rows, 1).astype(np.float32)
    return torch.from_numpy(series[:, :PAST]), torch.from_numpy(series[:, PAST, :2].copy())


class Batches(torch.utils.data.IterableDataset):
    """Cuts whole batches out of tensors."""

    def __init__(self, tensors, size, shuffle):
        self.tensors, self.size, self.shuffle = tensors, size, shuffle

    def __len__(self):
        return len(self.tensors[0]) // self.size

    def __iter__(self):
        count = len(self.tensors[0])
        order = torch.randperm(count) if self.shuffle else torch.arange(count)
        for rows in order.split(self.size)[: len(self)]:
            yield [tensor[rows] for tensor in self.tensors]


class TurtleNet(L.LightningModule):
    def __init__(self, width=160):
        super().__init__()
        self.gru = nn.GRU(FEATURES, width, num_layers=2, batch_first=True)
        self.head = nn.Sequential(nn.Linear(width, 64), nn.SiLU(), nn.Linear(64, 4))

    def nll(self, batch):
        past, following = batch
        states, _ = self.gru(past)
        mean, log_var = self.head(states[:, -1]).chunk(2, dim=-1)
        return nn.functional.gaussian_nll_loss(mean, following, log_var.clamp(-8, 4).exp())

    def training_step(self, batch, batch_idx):
        loss = self.nll(batch)
        if batch_idx % 10 == 0:
            print(f"epoch {self.current_epoch} step {self.global_step} nll {loss.item():.4f}", flush=True)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_nll", self.nll(batch), batch_size=len(batch[1]))

    def on_validation_epoch_end(self):
        print(f"epoch {self.current_epoch} validation {self.trainer.callback_metrics['val_nll']:.4f}", flush=True)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1.5e-3)


class Average(L.Callback):
    """Keeps an average of the weights beside the model."""

    def on_fit_start(self, trainer, module):
        self.copy = copy.deepcopy(module.state_dict())

    @torch.no_grad()
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        for name, value in module.state_dict().items():
            self.copy[name].lerp_(value, 0.01)


if __name__ == "__main__":
    L.seed_everything(17)
    training = Batches(swim(25600, 1), 128, shuffle=True)
    checking = Batches(swim(1024, 2), 256, shuffle=False)
    folder = os.path.join(tempfile.gettempdir(), "turtle_tracks")
    L.Trainer(
        max_epochs=100,
        accelerator="cpu",
        gradient_clip_val=1.0,
        logger=False,
        enable_progress_bar=False,
        callbacks=[Average(), ModelCheckpoint(folder, monitor="val_nll")],
    ).fit(
        TurtleNet(),
        torch.utils.data.DataLoader(training, batch_size=None),
        torch.utils.data.DataLoader(checking, batch_size=None),
    )
