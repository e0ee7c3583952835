# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: two processes wait for one another in all_reduce every step, validate together after each epoch and rank 0 writes a
# checkpoint then; the shards are even, the waits short, and both cores are busy with the network.
"""Visibility at sea from the last two days of a lighthouse's log: a GRU, trained by two processes with gloo."""
import os
import tempfile
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

WORLD, BATCH, HOURS = 2, 32, 36


def logs(n, seed):
    rng = np.random.default_rng(seed)
    hour = np.arange(HOURS)
    phase = rng.uniform(0, 6.28, (n, 1))
    damp = np.cumsum(rng.normal(0, 0.25, (n, HOURS)), 1)
    wind = np.sin(hour / 9 + phase) + rng.normal(0, 0.3, (n, HOURS))
    swell = 0.5 * np.roll(wind, 3, 1) + rng.normal(0, 0.2, (n, HOURS))
    clear = np.tanh(wind[:, -6:].mean(1) - 0.5 * damp[:, -1]) + rng.normal(0, 0.1, n)
    x = np.stack([damp, wind, swell, np.broadcast_to(np.sin(hour * 0.26), (n, HOURS))], 2)
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(clear.astype(np.float32))


class Keeper(nn.Module):
    def __init__(self, size=96):
        super().__init__()
        self.gru = nn.GRU(4, size, num_layers=2, batch_first=True)
        self.out = nn.Sequential(nn.Linear(size, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.out(self.gru(x)[0][:, -1])[:, 0]


def average_gradients(model):
    flat = torch.cat([p.grad.view(-1) for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= WORLD
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()


def validate(model, x, y):
    with torch.no_grad():
        total = torch.stack([nn.functional.mse_loss(model(a), b) for a, b in zip(x.split(100), y.split(100))]).mean()
    dist.all_reduce(total)
    return total.item() / WORLD


def work(rank, folder):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method="file://" + os.path.join(folder, "meet"), rank=rank, world_size=WORLD)
    x, y = logs(6400, 0)
    x, y = x[rank::WORLD], y[rank::WORLD]
    held_x, held_y = (v[rank::WORLD] for v in logs(800, 1))
    model = Keeper()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    start, step = time.time(), 0
    for epoch in range(1, 101):
        for batch in torch.randperm(len(x)).split(BATCH):
            loss = nn.functional.mse_loss(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            average_gradients(model)
            optimizer.step()
            step += 1
            if rank == 0 and step % 2 == 0:
                print(f"epoch {epoch}  step {step:5d}  loss {loss.item():.4f}  {time.time() - start:.1f} s", flush=True)
        held = validate(model, held_x, held_y)
        if rank == 0:
            torch.save(model.state_dict(), os.path.join(folder, "keeper.pt"))
            print(f"epoch {epoch} held out {held:.4f}", flush=True)
        dist.barrier()


if __name__ == "__main__":
    mp.spawn(work, (tempfile.mkdtemp(prefix="lighthouse_"),), nprocs=WORLD)
