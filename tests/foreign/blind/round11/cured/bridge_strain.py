"""Strain gauges of a bridge -> damage class. Two processes on one machine, gloo."""
import argparse
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def gauges(count, classes=6, channels=8, length=128):
    g = torch.Generator().manual_seed(0)
    label = torch.randint(classes, (count,), generator=g)
    t = torch.linspace(0, 1, length)
    freq = 3 + 2.5 * label[:, None, None] + torch.arange(channels)[None, :, None] * 0.7
    x = torch.sin(2 * torch.pi * freq * t) + 1.2 * torch.randn(count, channels, length, generator=g)
    return TensorDataset(x, label)


class GaugeNet(nn.Module):
    def __init__(self, channels=8, width=64, classes=6):
        super().__init__()
        layers = []
        for i, o in ((channels, width), (width, width), (width, 2 * width)):
            layers += [nn.Conv1d(i, o, 7, padding=3), nn.GroupNorm(8, o), nn.GELU(), nn.MaxPool1d(2)]
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(2 * width, classes)

    def forward(self, x):
        return self.head(self.body(x).mean(-1))


def save(folder, step, model, optimizer):
    path = os.path.join(folder, f"gauge_{step:06d}.pt")
    if dist.get_rank() == 0:
        torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path + ".part")
        os.replace(path + ".part", path)
        print(f"saved {os.path.basename(path)}", flush=True)
    dist.barrier()


def work(rank, world, port, folder, opt):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    data = gauges(6144)
    sampler = DistributedSampler(data, world, rank, seed=3)
    loader = DataLoader(data, batch_size=opt.batch, sampler=sampler, drop_last=True)
    model = DDP(GaugeNet())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    step = 0
    for epoch in range(opt.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0 and step % 5 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
            if step % opt.save_every == 0:
                save(folder, step, model, optimizer)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--save-every", type=int, default=25)
    opt = parser.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(work, (2, port, tempfile.mkdtemp(prefix="bridge_"), opt), nprocs=2)
