"""Passengers per crossing of a ferry line, learnt by two processes that average their gradients with gloo."""
import os
import tempfile
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

WORLD, BATCH, FEATURES = 2, 64, 40


def crossings():
    rng = np.random.default_rng(8)
    n = 10000
    port = rng.choice(6, n, p=[0.2, 0.17, 0.19, 0.15, 0.17, 0.12])
    x = rng.normal(0, 1, (n, FEATURES)).astype(np.float32)
    x[:, 0] = port / 3 - 1
    w = rng.normal(0, 1, (FEATURES, 6)) / np.sqrt(FEATURES)
    y = np.tanh(x @ w[:, 0]) + 0.3 * np.tanh(x @ w)[np.arange(n), port] + rng.normal(0, 0.1, n)
    return torch.from_numpy(x), torch.from_numpy(y.astype(np.float32))[:, None], torch.from_numpy(port)


class Manifest(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(FEATURES, width), nn.GELU(), nn.Linear(width, width), nn.GELU(),
                                   nn.Linear(width, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.inner(x))


def average_gradients(model):
    flat = torch.cat([p.grad.view(-1) for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= WORLD
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()


def work(rank, meeting, folder):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=WORLD)
    x, y, port = crossings()
    mine = torch.nonzero(port % WORLD == rank)[:, 0][:4288]
    model = Manifest()
    optimizer = torch.optim.Adam(model.parameters(), 5e-4)
    start, step = time.time(), 0
    for epoch in range(1, 61):
        order = mine[torch.randperm(len(mine))]
        for batch in order.split(BATCH):
            loss = nn.functional.mse_loss(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            average_gradients(model)
            optimizer.step()
            step += 1
            if rank == 0 and step % 10 == 0:
                print(f"epoch {epoch}  step {step:5d}  loss {loss.item():.4f}  {time.time() - start:.1f} s", flush=True)
        dist.barrier()
        if rank == 0:
            torch.save(model.state_dict(), os.path.join(folder, "manifest.pt"))
            print(f"epoch {epoch} done, {len(mine)} crossings on this rank", flush=True)


def main():
    folder = tempfile.mkdtemp(prefix="ferry_")
    mp.spawn(work, (os.path.join(folder, "meeting"), folder), nprocs=WORLD)


if __name__ == "__main__":
    main()
