# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: two processes, barriers, rank 0 alone validates and saves while the other waits for a moment, and one worker thread per process.
# Every collective is called by both ranks and the waits are short.
"""Frost warnings for vineyards: data-parallel GRU over station series, gradients averaged by hand (gloo)."""
import os
import socket
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

STATIONS, HOURS = 10, 36


def nights(count, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(HOURS) / 24
    mean = 4 + 4 * torch.randn(count, 1, 1, generator=g)
    swing = 5 + 2 * torch.randn(count, 1, STATIONS, generator=g)
    x = mean + swing * torch.cos(2 * torch.pi * t)[None, :, None] + torch.randn(count, HOURS, STATIONS, generator=g)
    low = (mean[:, 0, 0] - swing.mean((1, 2)) + 0.7 * torch.randn(count, generator=g))
    return x / 6, (low < 0).float()


class FrostNet(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.gru = nn.GRU(STATIONS, hidden, num_layers=2, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        return self.head(self.gru(x)[0][:, -1]).squeeze(1)


def average_gradients(model, world):
    flat = torch.cat([p.grad.reshape(-1) for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= world
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()


def station(rank, world, port, folder):
    torch.set_num_threads(1)
    torch.manual_seed(8)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    model = FrostNet()
    for p in model.parameters():
        dist.broadcast(p.data, 0)
    x, y = nights(8192, seed=100 + rank)
    held_x, held_y = nights(256, seed=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-4)
    criterion = nn.BCEWithLogitsLoss()
    generator = torch.Generator().manual_seed(rank)
    began = time.time()
    for step in range(1, 20001):
        pick = torch.randint(len(x), (64,), generator=generator)
        loss = criterion(model(x[pick]), y[pick])
        optimizer.zero_grad()
        loss.backward()
        average_gradients(model, world)
        optimizer.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f} {step / (time.time() - began):.1f} steps/s", flush=True)
        if step % 150 == 0:
            if rank == 0:
                with torch.no_grad():
                    out = model(held_x)
                right = ((out > 0).float() == held_y).float().mean().item()
                print(f"-- held-out loss {criterion(out, held_y).item():.4f} accuracy {right:.3f}", flush=True)
                torch.save(model.state_dict(), os.path.join(folder, "frost.pt"))
            dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(station, (2, port, tempfile.mkdtemp(prefix="frost_")), nprocs=2)
