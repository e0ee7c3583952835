"""Water levels in a river delta, trained by two processes with DistributedDataParallel."""
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WORLD, GAUGES, PAST, BATCH = 2, 16, 48, 64


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def sample(generator):
    t = torch.arange(PAST + 1).float()
    speed = 0.1 + 0.4 * torch.rand(BATCH, GAUGES, 1, generator=generator)
    phase = 6.28 * torch.rand(BATCH, GAUGES, 1, generator=generator)
    level = torch.sin(speed * t + phase) + 0.05 * torch.randn(BATCH, GAUGES, PAST + 1, generator=generator)
    return level[:, :, :-1], level[:, :, -1]


class DeltaNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(GAUGES, 64, 5, padding=2), nn.ReLU(),
            nn.Conv1d(64, 64, 5, padding=2), nn.ReLU(),
        )
        self.head = nn.Linear(64 * PAST, GAUGES)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def save(model, step):
    path = os.path.join(tempfile.gettempdir(), "delta_forecast.pt")
    torch.save({"step": step, "model": model.module.state_dict()}, path)
    print(f"saved step {step} to {path}")


def worker(rank, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DistributedDataParallel(DeltaNet())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(100 + rank)
    for step in range(1, 100001):
        past, ahead = sample(generator)
        loss = nn.functional.mse_loss(model(past), ahead)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")
        if rank == 0 and step % 300 == 0:
            save(model, step)
        if step % 300 == 0:
            dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, args=(free_port(),), nprocs=WORLD)
