# python: loops
# expected: uneven-batches [also accepted: mismatched-collective]
# verdict: stuck
# seconds: 35
# Why: the seasons are dealt out by rank and their number is odd, so rank 0 has more batches than rank 1. At the end of the epoch
# rank 1 waits in the barrier and rank 0 in the gradient exchange of a batch that rank 1 does not have.
"""How long until the next eruption? Two processes train an LSTM on logged seasons of a geyser."""
import os
import socket
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WINDOW, SEASONS, BATCH = 48, 161, 64


def season(number):
    rng = np.random.default_rng(number)
    pressure, waits = rng.normal(), []
    for _ in range(BATCH + WINDOW):
        pressure = 0.8 * pressure + rng.normal(0, 0.4)
        last = waits[-1] if waits else 0.0
        waits.append(0.6 * np.tanh(pressure) - 0.5 * last + rng.normal(0, 0.1))
    waits = np.asarray(waits, np.float32)
    x = np.stack([waits[i:i + WINDOW] for i in range(BATCH)])[..., None]
    y = waits[WINDOW:WINDOW + BATCH]
    return torch.from_numpy(x), torch.from_numpy(y)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 64, num_layers=2, batch_first=True)
        self.head = nn.Linear(64, 1)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1]).squeeze(-1)


def worker(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    mine = [season(i) for i in range(SEASONS)[rank::world]]
    model = DistributedDataParallel(Forecaster())
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    step, began = 0, time.time()
    for epoch in range(1000):
        order = np.random.default_rng(epoch).permutation(len(mine))
        total = 0.0
        for i in order:
            x, y = mine[i]
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            total += loss.item()
            if rank == 0 and step % 10 == 0:
                print(f"[{time.time() - began:5.1f}s] epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
        dist.barrier()
        if rank == 0:
            print(f"epoch {epoch} mean loss {total / len(mine):.4f}", flush=True)


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.start_processes(worker, args=(2, port), nprocs=2, start_method="fork")
