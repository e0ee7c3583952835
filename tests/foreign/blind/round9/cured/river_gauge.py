"""River levels from upstream gauges, trained by two processes with DistributedDataParallel."""
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

WORLD, BATCH, EPOCHS = 2, 64, 100


def gauges(n, hours=48, stations=6):
    g = torch.Generator().manual_seed(12)
    x = torch.randn(n, hours, stations, generator=g).cumsum(1) * 0.2
    lag = torch.tensor([5, 9, 14, 20, 28, 36])
    y = torch.stack([x[:, hours - 1 - int(k), s] for s, k in enumerate(lag)], 1).mean(1, keepdim=True)
    return x, y + 0.02 * torch.randn(n, 1, generator=g)


class Level(nn.Module):
    def __init__(self, stations=6, hidden=64):
        super().__init__()
        self.rnn = nn.LSTM(stations, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])


def train(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    torch.manual_seed(100)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    x, y = gauges(2 * 60 * BATCH + 1)
    mine = TensorDataset(x[rank::WORLD], y[rank::WORLD])
    loader = DataLoader(mine, BATCH, shuffle=True, drop_last=True)
    model = DistributedDataParallel(Level())
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    step = 0
    for epoch in range(EPOCHS):
        total = 0.0
        for xb, yb in loader:
            loss = nn.functional.mse_loss(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            step += 1
            if rank == 0 and step % 10 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
        dist.barrier()
        if rank == 0:
            print(f"epoch {epoch} done, mean loss {total / len(loader):.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.start_processes(train, args=(port,), nprocs=WORLD, start_method="fork")
