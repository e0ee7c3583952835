# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: two processes with gloo, a first step that comes late, noisy losses and an evaluation now and then; shards are
# equally long, both ranks do the same work and the model is the work.
"""Classify all-sky camera pictures of the aurora (arc, band, patch, corona, none) on two processes.

    python northern_lights.py --epochs 20
"""
import argparse
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

FORMS = ["none", "arc", "band", "patch", "corona"]
SIDE = 40


def sky(count, seed):
    g = torch.Generator().manual_seed(seed)
    form = torch.randint(len(FORMS), (count,), generator=g)
    axis = torch.linspace(-1, 1, SIDE)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    a, b, c = (torch.rand(3, count, 1, 1, generator=g) * 2 - 1).unbind(0)
    curve = torch.where(form.view(-1, 1, 1) == 2, 0.35 * torch.sin(5 * x + 4 * b), 0.3 * b * x)
    ribbon = torch.exp(-(((y - 0.5 * a - curve) / 0.12) ** 2))
    patch = torch.exp(-((x - 0.6 * a) ** 2 + (y - 0.6 * b) ** 2) / 0.06)
    rays = torch.relu(torch.cos(9 * torch.atan2(y - 0.3 * a, x - 0.3 * b) + 6 * c)) ** 2
    shape = form.view(-1, 1, 1)
    light = ribbon * ((shape == 1) | (shape == 2)) + patch * (shape == 3) + rays * (shape == 4)
    light = light * (0.7 + 0.3 * c) + 0.45 * torch.randn(count, SIDE, SIDE, generator=g)
    flipped = torch.rand(count, generator=g) < 0.06
    form[flipped] = torch.randint(len(FORMS), (int(flipped.sum()),), generator=g)
    return light.unsqueeze(1), form


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width),
        )

    def forward(self, x):
        return torch.relu(x + self.inner(x))


def network():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, stride=2, padding=2), nn.ReLU(), Residual(32),
        nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(), Residual(64),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, len(FORMS)),
    )


def evaluate(net, images, forms):
    net.eval()
    with torch.no_grad():
        right = (net.module(images).argmax(1) == forms).sum().float()
    net.train()
    dist.all_reduce(right)
    return right.item() / (len(forms) * dist.get_world_size())


def worker(rank, world, port, args):
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    torch.manual_seed(40)
    images, forms = sky(5120, seed=1)
    test_images, test_forms = sky(128, seed=100 + rank)
    data = TensorDataset(images, forms)
    sampler = DistributedSampler(data, world, rank, shuffle=True, drop_last=True)
    loader = DataLoader(data, batch_size=args.batch, sampler=sampler, drop_last=True)
    net = DDP(network())
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    began, step = time.time(), 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0 and step % 4 == 0:
                print(f"epoch {epoch} step {step:4d} loss {loss.item():.3f} {time.time() - began:.1f} s", flush=True)
            if step % 80 == 0:
                accuracy = evaluate(net, test_images, test_forms)
                if rank == 0:
                    print(f"test accuracy {accuracy:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=120)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    mp.spawn(worker, args=(options.processes, free, options), nprocs=options.processes)
