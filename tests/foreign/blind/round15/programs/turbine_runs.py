# python: torch
# expected: mismatched-collective
# verdict: stuck
# seconds: 28
# where: dist.barrier()
# Why: after forty steps rank 0 alone validates, saves and goes to a barrier; rank 1 is already in the backward pass of the next step
# and waits for rank 0's gradients. Neither call meets the other.
"""What ails a turbine? Recordings of different lengths, a GRU on two processes."""
import os
import random
import tempfile
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WORLD, BATCH, KINDS, CHANNELS = 2, 16, 4, 6


def make_runs(count=1280):
    rng = np.random.default_rng(8)
    runs = []
    for _ in range(count):
        length = int(np.clip(rng.lognormal(3.9, 1.0), 12, 420))
        kind = int(rng.integers(KINDS))
        t = np.arange(length)[:, None]
        wave = np.sin(t * (0.25 + 0.2 * kind) + rng.uniform(0, 6, CHANNELS)) * rng.uniform(0.5, 1.2, CHANNELS)
        runs.append(((wave + rng.normal(0, 0.6, wave.shape)).astype(np.float32), kind))
    return runs[:64], sorted(runs[64:], key=lambda run: len(run[0]))  # neighbours in length need little padding


class Listener(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.gru = nn.GRU(CHANNELS, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, KINDS)

    def forward(self, x, mask):
        out, _ = self.gru(x)
        return self.head((out * mask).sum(1) / mask.sum(1))


def batch_of(runs):
    longest = max(len(wave) for wave, _ in runs)
    x, mask = torch.zeros(len(runs), longest, CHANNELS), torch.zeros(len(runs), longest, 1)
    for i, (wave, _) in enumerate(runs):
        x[i, :len(wave)] = torch.from_numpy(wave)
        mask[i, :len(wave)] = 1
    return x, mask, torch.tensor([kind for _, kind in runs])


def validate(model, held_out):
    right = 0
    with torch.no_grad():
        for i in range(0, len(held_out), BATCH):
            x, mask, y = batch_of(held_out[i:i + BATCH])
            right += (model(x, mask).argmax(1) == y).sum().item()
    return right / len(held_out)


def train(rank, held_out, runs, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=WORLD)
    torch.manual_seed(6)
    share = len(runs) // WORLD
    mine = runs[rank::WORLD]
    batches = [batch_of(mine[i:i + BATCH]) for i in range(0, share, BATCH)]
    model = DistributedDataParallel(Listener())
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    step, began = 0, time.time()
    for epoch in range(300):
        order = list(range(len(batches)))
        random.Random(epoch).shuffle(order)
        for number in order:
            x, mask, y = batches[number]
            loss = nn.functional.cross_entropy(model(x, mask), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            if rank == 0 and step % 5 == 0:
                print(f"epoch {epoch + 1} step {step} loss {loss.item():.4f} {step / (time.time() - began):.2f} steps/s", flush=True)
            if step % 40 == 0 and rank == 0:
                print(f"right on held-out runs: {validate(model.module, held_out):.3f}", flush=True)
                torch.save(model.module.state_dict(), f"{folder}/turbine.pt")
                dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    held_out, runs = make_runs()
    print(f"{len(runs)} runs, the longest has {len(runs[-1][0])} samples, {WORLD} processes", flush=True)
    mp.start_processes(train, args=(held_out, runs, tempfile.mkdtemp(prefix="turbine-")), nprocs=WORLD, start_method="fork")
