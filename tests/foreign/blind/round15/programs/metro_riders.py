# python: loops
# expected: uneven-batches [also accepted: mismatched-collective]
# verdict: stuck
# seconds: 35
# Why: each process takes its share of the table and then drops the hours without a count; one line lost more of them, so one
# Why: process has more batches: it waits in backward for the other, which is at the barrier at the end of the epoch.
"""Riders per hour on two metro lines, trained by two processes."""
import os
import pathlib
import socket
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

WORLD, COLUMNS = 2, 16


def table(count):
    """Hours of the two lines in turn: fifteen features and the count, -1 where the counter was out of order."""
    rng = np.random.default_rng(19)
    rows = rng.normal(0, 1, (count, COLUMNS)).astype(np.float32)
    load = 3 + rows[:, 0] + np.sin(2 * rows[:, 1]) + 0.6 * rows[:, 2] * rows[:, 3] + 0.3 * rng.normal(0, 1, count)
    rows[:, -1] = np.maximum(0, load)
    broken = rng.random(count) < np.where(np.arange(count) % 2, 0.09, 0.02)
    rows[broken, -1] = -1
    return rows


def build():
    return nn.Sequential(nn.Linear(COLUMNS - 1, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(),
                         nn.Linear(256, 128), nn.GELU(), nn.Linear(128, 1))


def train(rank, port, path):
    torch.set_num_threads(1)
    torch.manual_seed(100 + rank)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=WORLD)
    rows = np.load(path)
    rows = rows[rank::WORLD]
    rows = rows[rows[:, -1] >= 0]
    data = TensorDataset(torch.from_numpy(rows[:, :-1].copy()), torch.from_numpy(rows[:, -1:].copy()))
    loader = DataLoader(data, batch_size=64, shuffle=True, drop_last=True)
    model = DistributedDataParallel(build())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    criterion = nn.SmoothL1Loss()
    step = 0
    for epoch in range(500):
        total = 0.0
        for features, riders in loader:
            optimizer.zero_grad()
            loss = criterion(model(features), riders)
            loss.backward()
            optimizer.step()
            total += loss.item()
            step += 1
            if rank == 0 and step % 20 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
        dist.barrier()
        if rank == 0:
            torch.save(model.module.state_dict(), pathlib.Path(path).with_name("riders.pt"))
            print(f"epoch {epoch} mean loss {total / len(loader):.4f}", flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def main():
    path = pathlib.Path(tempfile.mkdtemp(prefix="metro-")) / "hours.npy"
    np.save(path, table(24000))
    mp.spawn(train, args=(free_port(), str(path)), nprocs=WORLD)


if __name__ == "__main__":
    main()
