# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: two processes of one thread each; the second waits now and then at a barrier while the first validates and saves, a twentieth
# of the time at most. The shares are equal and the messages small.
"""Ships or clutter? Radar patches, two processes that share the gradient."""
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

WORLD, SIZE, BATCH = 2, 32, 32


def patches(count, seed):
    random = torch.Generator().manual_seed(seed)
    clutter = torch.randn(count, 1, SIZE, SIZE, generator=random)
    clutter = nn.functional.avg_pool2d(clutter, 3, stride=1, padding=1) * 2
    y, x = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    middle = torch.rand(2, count, 1, 1, generator=random) * (SIZE - 12) + 6
    angle = torch.rand(count, 1, 1, generator=random) * 3.14
    a = (x - middle[0]) * angle.cos() + (y - middle[1]) * angle.sin()
    b = (y - middle[1]) * angle.cos() - (x - middle[0]) * angle.sin()
    ship = torch.exp(-(a / 4) ** 2 - (b / 1.3) ** 2)
    there = (torch.rand(count, generator=random) < 0.5).float()
    return TensorDataset(clutter + 2.6 * (ship * there[:, None, None])[:, None], there)


def build():
    def block(a, b):
        return [nn.Conv2d(a, b, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*block(1, 24), *block(24, 48), *block(48, 64), nn.Flatten(), nn.Linear(64 * 16, 64), nn.ReLU(),
                         nn.Linear(64, 1), nn.Flatten(0))


def validate(model, data):
    with torch.no_grad():
        right = [((model(x) > 0) == (y > 0.5)).float().mean().item() for x, y in DataLoader(data, batch_size=128)]
    return sum(right) / len(right)


def train(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=WORLD)
    torch.manual_seed(3)
    data, held_out = patches(8192, 1), patches(384, 2)
    sampler = DistributedSampler(data, WORLD, rank, shuffle=True, seed=7)
    loader = DataLoader(data, batch_size=BATCH, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(build())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    step, began = 0, time.time()
    for epoch in range(1, 101):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0 and step % 5 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f} {step / (time.time() - began):.1f} steps/s", flush=True)
            if step % 128 == 0:
                if rank == 0:
                    print(f"right on held-out patches: {validate(model.module, held_out):.3f}", flush=True)
                    torch.save(model.module.state_dict(), f"{folder}/radar.pt")
                dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    mp.start_processes(train, args=(tempfile.mkdtemp(prefix="harbour-"),), nprocs=WORLD, start_method="fork")
