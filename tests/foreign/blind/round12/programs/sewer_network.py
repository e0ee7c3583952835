# python: loops
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: two processes with one thread each on two cores, gradients exchanged through gloo every step, and rank 1 waits a moment while
# rank 0 validates now and then. The shards are equal and the exchange is small beside the work.
"""Where will the sewer overflow? A message-passing net on drainage graphs, two processes (PyTorch, gloo)."""
import os
import socket
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

NODES, FEATURES, GRAPHS = 60, 6, 24


def district(rng):
    """A batch of drainage trees with a few cross pipes; label: does the inflow exceed the capacity?"""
    src, dst, feats, labels = [], [], [], []
    for g in range(GRAPHS):
        x = rng.normal(0, 1, (NODES, FEATURES)).astype(np.float32)
        parent = np.array([0] + [rng.integers(max(0, i - 6), i) for i in range(1, NODES)])
        flow = np.maximum(x[:, 0], 0)
        for i in range(NODES - 1, 0, -1):
            if i - parent[i] < 4:
                flow[parent[i]] += 0.4 * flow[i]
        a, b = np.arange(1, NODES), parent[1:]
        src += [a + g * NODES, b + g * NODES]
        dst += [b + g * NODES, a + g * NODES]
        feats.append(x)
        labels.append(flow > 0.9 + 0.5 * x[:, 1])
    edges = np.stack([np.concatenate(src), np.concatenate(dst)])
    return (torch.from_numpy(np.concatenate(feats)), torch.from_numpy(edges),
            torch.from_numpy(np.concatenate(labels).astype(np.float32)))


class Drain(nn.Module):
    def __init__(self, width=160, rounds=4):
        super().__init__()
        self.inp = nn.Linear(FEATURES, width)
        self.msg = nn.ModuleList([nn.Linear(2 * width, width) for _ in range(rounds)])
        self.upd = nn.ModuleList([nn.Linear(2 * width, width) for _ in range(rounds)])
        self.out = nn.Linear(width, 1)

    def forward(self, x, edges):
        h = torch.relu(self.inp(x))
        for msg, upd in zip(self.msg, self.upd):
            m = torch.relu(msg(torch.cat([h[edges[0]], h[edges[1]]], 1)))
            gathered = torch.zeros_like(h).index_add(0, edges[1], m)
            h = h + torch.relu(upd(torch.cat([h, gathered], 1)))
        return self.out(h).squeeze(1)


def average(model, world):
    flat = torch.cat([p.grad.view(-1) for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= world
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()


def worker(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    rng = np.random.default_rng(100 + rank)
    shard = [district(rng) for _ in range(30)]
    held_out = [district(np.random.default_rng(5)) for _ in range(3)]
    model = Drain()
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4)
    criterion = nn.BCEWithLogitsLoss()
    step, began, history = 0, time.time(), []
    for epoch in range(2000):
        for i in rng.permutation(len(shard)):
            x, edges, y = shard[i]
            loss = criterion(model(x, edges), y)
            optimizer.zero_grad()
            loss.backward()
            average(model, world)
            optimizer.step()
            step += 1
            history.append(loss.item())
            if rank == 0 and step % 5 == 0:
                print(f"[{time.time() - began:5.1f}s] epoch {epoch} step {step} loss {history[-1]:.4f}", flush=True)
        if epoch % 6 == 5:
            if rank == 0:
                with torch.no_grad():
                    score = np.mean([criterion(model(x, e), y).item() for x, e, y in held_out])
                print(f"epoch {epoch} held-out loss {score:.4f}", flush=True)
            dist.barrier()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.start_processes(worker, args=(2, port), nprocs=2, start_method="fork")
