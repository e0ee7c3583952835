# python: torch
# expected: uneven-batches [also accepted: mismatched-collective]
# verdict: stuck
# seconds: 35
# where: dist.barrier()
# Why: the shards are not equally long and the last batch is kept, so that rank 0 has one batch more: it waits for the
# other's gradients while the other waits at the barrier behind the epoch.
"""Date climate stress from tree ring series of pines; data parallel over two processes (gloo)."""
import os
import socket
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

WORLD = 2
CORES_TAKEN = 2561
YEARS = 256
BATCH = 32
EPOCHS = 60


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def tree_cores():
    g = torch.Generator().manual_seed(8)
    kind = torch.randint(0, 5, (CORES_TAKEN,), generator=g)
    age = torch.linspace(1, 0.4, YEARS)
    width = age + 0.15 * torch.randn(CORES_TAKEN, YEARS, generator=g)
    onset = torch.randint(20, YEARS - 60, (CORES_TAKEN,), generator=g)
    for i in range(CORES_TAKEN):
        length = 8 + 8 * int(kind[i])
        width[i, onset[i] : onset[i] + length] *= 0.6 if kind[i] else 1.0
    return width.unsqueeze(1), kind


def ring_net():
    layers = [nn.Conv1d(1, 32, 9, padding=4), nn.BatchNorm1d(32), nn.ReLU()]
    for inputs, outputs in ((32, 64), (64, 128), (128, 128)):
        layers += [nn.Conv1d(inputs, outputs, 7, stride=2, padding=3), nn.BatchNorm1d(outputs), nn.ReLU()]
        layers += [nn.Conv1d(outputs, outputs, 7, padding=3), nn.BatchNorm1d(outputs), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(128, 5))


def train(rank, port):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    torch.manual_seed(rank)
    rings, kind = tree_cores()
    rings, kind = rings[rank::WORLD], kind[rank::WORLD]
    model = DistributedDataParallel(ring_net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
    began = time.time()
    step = 0
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(rings)).split(BATCH):
            loss = F.cross_entropy(model(rings[rows]), kind[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0 and step % 5 == 0:
                print(f"[{time.time() - began:6.1f}s] step {step} loss {loss.item():.4f}", flush=True)
        dist.barrier()
        if rank == 0:
            torch.save(model.module.state_dict(), os.path.join(tempfile.gettempdir(), "pine_rings.pt"))
            print(f"epoch {epoch + 1} saved", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, args=(free_port(),), nprocs=WORLD)
