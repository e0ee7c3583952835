# python: torch
# expected: mismatched-collective
# verdict: stuck
# seconds: 30
# where: dist.all_reduce / dist.barrier
# Why: one rank averages its gradients, the other one waits at a barrier that only it was told of.
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def train(rank, port):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(1, 100_000):
        loss = nn.functional.cross_entropy(model(torch.randn(256, 64)), torch.randint(4, (256,)))
        optimizer.zero_grad()
        loss.backward()
        if rank == 0 and step == 200:
            dist.barrier()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
        if rank == 0 and step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    mp.spawn(train, args=(free_port(),), nprocs=2)
