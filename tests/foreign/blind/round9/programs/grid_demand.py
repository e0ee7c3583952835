# python: torch
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: two processes with gloo and a barrier at every checkpoint, which both of them reach; they have the same work, so nobody waits
# long, and the exchange of the gradients is small beside the step.
"""Demand on a power grid, two ranks, gradients averaged by hand after each backward pass."""
import os
import pathlib
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

WORLD, REGIONS, HOURS, BATCH = 2, 12, 168, 48


class DemandNet(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(REGIONS, width, 7, padding=3), nn.ReLU(),
            nn.Conv1d(width, width, 7, padding=3), nn.ReLU(),
            nn.Conv1d(width, width, 7, padding=3), nn.ReLU(),
            nn.Conv1d(width, width, 7, padding=3), nn.ReLU(),
        )
        self.out = nn.Conv1d(width, REGIONS, 24, stride=24)

    def forward(self, x):
        return self.out(self.conv(x))[:, :, -1]


def weeks(generator):
    hour = torch.arange(HOURS + 1).float()
    shift = 24 * torch.rand(BATCH, REGIONS, 1, generator=generator)
    height = 0.5 + torch.rand(BATCH, REGIONS, 1, generator=generator)
    demand = height * torch.sin(2 * torch.pi * (hour + shift) / 24) + 0.3 * torch.sin(2 * torch.pi * (hour + shift) / 168)
    demand = demand + 0.2 * torch.randn(demand.shape, generator=generator)
    return demand[:, :, :-1], demand[:, :, -1]


def average_gradients(model):
    flat = torch.cat([p.grad.reshape(-1) for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= WORLD
    start = 0
    for p in model.parameters():
        p.grad.copy_(flat[start:start + p.numel()].view_as(p))
        start += p.numel()


def train(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=WORLD)
    torch.manual_seed(4)
    model = DemandNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 400)
    generator = torch.Generator().manual_seed(rank)
    for step in range(1, 50001):
        x, y = weeks(generator)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        average_gradients(model)
        optimizer.step()
        schedule.step()
        if step % 10 == 0:
            shared = loss.detach().clone()
            dist.all_reduce(shared)
            if rank == 0:
                print(f"step {step} loss {shared.item() / WORLD:.4f} lr {schedule.get_last_lr()[0]:.2e}")
        if step % 200 == 0:
            if rank == 0:
                torch.save(model.state_dict(), os.path.join(folder, "grid.pt"))
            dist.barrier()


if __name__ == "__main__":
    folder = pathlib.Path(tempfile.mkdtemp(prefix="grid-"))
    mp.spawn(train, args=(str(folder),), nprocs=WORLD)
