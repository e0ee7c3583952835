# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: Two gloo ranks with equal shards and one thread each; the process that was started only waits for its two children, which train.
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import logging
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class FlowForecaster(nn.Module):
    """24 steps of 32 road sensors in, the next hour out."""

    def __init__(self, sensors=32, hidden=96):
        super().__init__()
        self.conv1 = nn.Conv1d(sensors, hidden, 5, padding=2)
        self.conv2 = nn.Conv1d(hidden, hidden, 5, padding=2)
        self.conv3 = nn.Conv1d(hidden, hidden, 5, padding=2)
        self.head = nn.Linear(hidden, sensors)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = x + torch.relu(self.conv2(x))
        x = x + torch.relu(self.conv3(x))
        return self.head(x[:, :, -1])


def synthetic_flow(n, sensors=32, steps=24):
    g = torch.Generator().manual_seed(17)
    phase = torch.rand(n, sensors, 1, generator=g) * 6.28
    t = torch.arange(steps + 1).float()
    flow = torch.sin(0.3 * t + phase) + 0.3 * torch.randn(n, sensors, steps + 1, generator=g)
    return TensorDataset(flow[:, :, :-1].contiguous(), flow[:, :, -1].contiguous())


def worker(rank, world, rendezvous):
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s [rank %(name)s] %(message)s")
    log = logging.getLogger(str(rank))
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world)
    data = synthetic_flow(8192)
    sampler = DistributedSampler(data, world, rank, shuffle=True)
    loader = DataLoader(data, batch_size=128, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(FlowForecaster())
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    step = 0
    for epoch in range(10000):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 10 == 0 and rank == 0:
                log.info("epoch %d step %d mse %.4f", epoch, step, loss.item())


if __name__ == "__main__":
    folder = tempfile.mkdtemp(prefix="flow_")
    mp.spawn(worker, args=(2, os.path.join(folder, "rendezvous")), nprocs=2, join=True)
