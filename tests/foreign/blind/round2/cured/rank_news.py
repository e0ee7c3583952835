# python: torch
# expected: rendezvous-waits [also accepted: waits-for-server]
# verdict: stuck|not-started
# seconds: 30
# where: dist.init_process_group / WORLD_SIZE
# Why: the world size default is that of the old four-GPU node while only two processes are started: both wait at the store for the other two. Happens whenever the launcher and the script count differently.
import os
import socket
import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

PROCESSES = 2
ARTICLES, USERS, DIM = 3000, 2000, 32


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def world_size():
    return int(os.environ.get("WORLD_SIZE", PROCESSES))


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Sequential(nn.Embedding(USERS, DIM), nn.Linear(DIM, DIM), nn.ReLU(), nn.Linear(DIM, DIM))
        self.item = nn.Sequential(nn.Embedding(ARTICLES, DIM), nn.Linear(DIM, DIM))

    def forward(self, u, a):
        return (self.user(u) * self.item(a)).sum(-1)


def clicks(rank, n):
    rng = np.random.default_rng(100 + rank)
    u = rng.integers(0, USERS, n)
    a = rng.integers(0, ARTICLES, n)
    y = ((u % 7) == (a % 7)).astype(np.float32)
    return torch.from_numpy(u), torch.from_numpy(a), torch.from_numpy(y)


def average(model, size):
    for p in model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)
            p.grad /= size


def train(rank, port):
    size = world_size()
    torch.manual_seed(0)
    model = TwoTower()
    data = clicks(rank, 50000)
    print(f"[{rank}] {sum(p.numel() for p in model.parameters())} parameters, {len(data[0])} clicks", flush=True)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    gen = torch.Generator().manual_seed(rank)
    for step in range(1, 20001):
        take = torch.randint(0, len(data[0]), (512,), generator=gen)
        u, a, y = (d[take] for d in data)
        loss = nn.functional.binary_cross_entropy_with_logits(model(u, a), y)
        opt.zero_grad()
        loss.backward()
        average(model, size)
        opt.step()
        if rank == 0 and step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    mp.spawn(train, args=(free_port(),), nprocs=PROCESSES)
