# python: torch
# expected: thread-oversubscription
# verdict: slow
# seconds: 25
# where: torch.set_num_threads(
# Why: two folds train at the same time and each computes with 6 threads, on two cores: the teams' barriers wait for threads that are
# not running. With one thread for each fold the same folds make several times as many steps.
"""Dates layers of an ice core from its chemistry; two folds are trained side by side to see how far the ages can be trusted."""
import time

import numpy as np
import torch
import torch.multiprocessing as mp
import torch.nn as nn

FOLDS = 2
THREADS = 6
DEPTHS, IONS = 96, 8


def drill(count, rng):
    """Windows along the core: annual cycles get thinner with depth, their number in the window is the target."""
    years = rng.uniform(3, 14, count)
    at = np.linspace(0, 1, DEPTHS)
    phase = rng.uniform(0, 2 * np.pi, (count, IONS, 1))
    strength = rng.uniform(0.3, 1.2, (count, IONS, 1))
    cycles = strength * np.sin(2 * np.pi * years[:, None, None] * at + phase)
    windows = cycles + rng.normal(0, 0.4, cycles.shape)
    return torch.tensor(windows, dtype=torch.float32), torch.tensor((years - 8.5) / 3, dtype=torch.float32)


class LayerNet(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(IONS, width, 7, padding=3), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 7, padding=3), nn.BatchNorm1d(width), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(width, 2 * width, 5, padding=2), nn.BatchNorm1d(2 * width), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(2 * width, 2 * width, 5, padding=2), nn.BatchNorm1d(2 * width), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(2 * width, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.head(self.body(x).mean(2)).squeeze(1)


def train_fold(fold, counter):
    torch.set_num_threads(THREADS)
    torch.manual_seed(fold)
    windows, years = drill(4000, np.random.default_rng(0))
    held = torch.arange(len(windows)) % FOLDS == fold
    train_windows, train_years = windows[~held], years[~held]
    model = LayerNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20000)
    began = time.time()
    for epoch in range(2000):
        for rows in torch.randperm(len(train_windows)).split(32):
            loss = nn.functional.smooth_l1_loss(model(train_windows[rows]), train_years[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            with counter.get_lock():
                counter.value += 1
                done = counter.value
            if done % 4 == 0:
                print(f"[fold {fold}] epoch {epoch + 1}, {done} steps in all, loss {loss.item():.4f} "
                      f"({done / (time.time() - began):.1f} steps/s)", flush=True)


if __name__ == "__main__":
    context = mp.get_context("spawn")
    shared = context.Value("l", 0)
    folds = [context.Process(target=train_fold, args=(fold, shared)) for fold in range(FOLDS)]
    for process in folds:
        process.start()
    for process in folds:
        process.join()
