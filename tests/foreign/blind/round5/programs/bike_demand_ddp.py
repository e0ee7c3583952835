# python: loops
# expected: uneven-batches [also accepted: mismatched-collective]
# verdict: stuck
# seconds: 30
# env: OMP_WAIT_POLICY=PASSIVE
# where: loss.backward / dist.barrier / all_reduce
# Why: One rank has a station, and so a few batches, more; its gradients wait for the other rank, which already waits for the result of the epoch.
import os
import socket

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset

WORLD = 2
STATIONS, HOURS = 59, 360


def demand(stations=STATIONS, hours=HOURS):
    rng = np.random.default_rng(13)
    hour = np.arange(hours)
    base = rng.gamma(3, 4, stations)[:, None]
    daily = 1 + 0.7 * np.sin((hour / 24 - rng.random((stations, 1)) * 0.2) * 2 * np.pi)
    temp = 12 + 8 * np.sin(hour / 24 / 30 * 2 * np.pi) + rng.normal(0, 2, hours)
    rate = base * daily * (1 + 0.02 * temp)
    x = np.stack([np.repeat(base, hours, 1) / 12, daily, np.tile(temp / 20, (stations, 1)),
                  np.tile(np.sin(hour / 168 * 6.28), (stations, 1))], -1).reshape(-1, 4)
    y = np.log1p(rng.poisson(rate)).reshape(-1, 1)
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))


def worker(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    data = demand()
    mine = range(STATIONS)[rank::WORLD]
    share = Subset(data, [s * HOURS + h for s in mine for h in range(HOURS)])
    loader = DataLoader(share, batch_size=60, shuffle=True)
    model = DDP(nn.Sequential(nn.Linear(4, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1)))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(200):
        total = torch.zeros(2)
        for i, (x, y) in enumerate(loader):
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += torch.tensor([loss.item() * len(x), len(x)])
            if rank == 0 and i % 25 == 0:
                print(f"epoch {epoch} batch {i} loss {loss.item():.4f}", flush=True)
        dist.barrier()
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch} done, mean loss {total[0] / total[1]:.4f}", flush=True)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    mp.spawn(worker, args=(free_port(),), nprocs=WORLD)
