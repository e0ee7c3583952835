# python: loops
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: nothing is wrong. Two processes with one thread each share the batch by DistributedDataParallel over gloo, the
# starting process only waits, losses are noisy and the first rank alone checks a few clips every 200 steps.
"""Which locomotive whistled? Two data-parallel processes learn it from short synthetic clips."""
import os
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

ENGINES, RATE, LENGTH = 6, 4000, 1600
CHORDS = torch.tensor(
    [[311, 370, 415], [311, 370, 466], [277, 349, 440], [330, 392, 494], [294, 370, 440], [262, 330, 392]],
    dtype=torch.float32,
)


def clips(count, generator):
    engines = torch.randint(ENGINES, (count,), generator=generator)
    t = torch.arange(LENGTH) / RATE
    bend = 1 + 0.02 * torch.randn(count, 1, 1, generator=generator)
    loud = 0.4 + torch.rand(count, 3, 1, generator=generator)
    phase = 6.28 * torch.rand(count, 3, 1, generator=generator)
    sound = (loud * torch.sin(6.2832 * CHORDS[engines][:, :, None] * bend * t + phase)).sum(1)
    return (sound + 1.2 * torch.randn(count, LENGTH, generator=generator))[:, None], engines


def build():
    layers, channels = [], 1
    for width, kernel in ((24, 41), (48, 15), (64, 9), (96, 5)):
        layers += [nn.Conv1d(channels, width, kernel, stride=2, padding=kernel // 2), nn.GroupNorm(4, width), nn.SiLU()]
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(4 * channels, ENGINES))


def work(rank, world, port):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    model = DistributedDataParallel(build())
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4)
    generator = torch.Generator().manual_seed(100 + rank)
    sounds, engines = clips(3000, generator)
    checks = clips(64, torch.Generator().manual_seed(7))

    began = time.time()
    for step in range(1, 30001):
        rows = torch.randint(len(sounds), (48,), generator=generator)
        loss = cross_entropy(model(sounds[rows]), engines[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f} {time.time() - began:.1f} s", flush=True)
        if rank == 0 and step % 200 == 0:
            with torch.no_grad():
                hit = (model.module(checks[0]).argmax(1) == checks[1]).float().mean().item()
            print(f"checked after step {step}: {hit:.0%} right", flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    mp.spawn(work, args=(2, free_port()), nprocs=2)
