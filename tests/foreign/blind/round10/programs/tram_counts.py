# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: two processes average their gradients in every step with gloo and one of them prints, validates a little and saves now
# and then; the shares are equal, the model is small to send and heavy to compute, so both cores are at work.
"""Forecast passengers at tram stops: temporal convolutions, two data-parallel CPU processes."""
import argparse
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

STOPS, HISTORY, HORIZON = 24, 96, 12


def history(n, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(HISTORY + HORIZON)[None, None, :] + torch.randint(0, 96, (n, 1, 1), generator=g)
    level = torch.rand(n, STOPS, 1, generator=g) + 0.5
    day = 1 + torch.sin(t * 2 * torch.pi / 96) + 0.5 * torch.cos(t * 2 * torch.pi / 32)
    series = level * day + 0.35 * torch.randn(n, STOPS, HISTORY + HORIZON, generator=g)
    return TensorDataset(series[..., :HISTORY], series[..., HISTORY:])


class StopForecaster(nn.Module):
    def __init__(self, width=72, depth=5):
        super().__init__()
        self.lift = nn.Conv1d(STOPS, width, 1)
        self.layers = nn.ModuleList(
            nn.Conv1d(width, width, 3, padding=2 ** d, dilation=2 ** d) for d in range(depth))
        self.head = nn.Linear(width, STOPS * HORIZON)

    def forward(self, x):
        h = self.lift(x)
        for conv in self.layers:
            h = h + torch.relu(conv(h))
        return self.head(h[..., -1] + h.mean(-1)).view(-1, STOPS, HORIZON)


def validate(model, data):
    model.eval()
    with torch.no_grad():
        x, y = data.tensors
        error = (model(x) - y).abs().mean().item()
    model.train()
    return error


def run(rank, world, rendezvous, args):
    torch.manual_seed(33)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world)
    train, valid = history(4096, 1), history(96, 2)
    sampler = DistributedSampler(train, world, rank, shuffle=True, drop_last=True)
    loader = DataLoader(train, batch_size=args.batch, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(StopForecaster())
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    step = 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.smooth_l1_loss(model(x), y)
            loss.backward()
            optimizer.step()
            step += 1
            if rank == 0 and step % 10 == 0:
                print(f"[{epoch:03d}] step {step:5d}: loss {loss.item():.4f}", flush=True)
            if rank == 0 and step % 150 == 0:
                print(f"[{epoch:03d}] valid mae {validate(model.module, valid):.4f}", flush=True)
        if rank == 0 and epoch % 5 == 4:
            torch.save(model.module.state_dict(), os.path.join(tempfile.gettempdir(), "tram_counts.pt"))
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=300)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.02)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(run, args=(2, os.path.join(folder, "meet"), options), nprocs=2, join=True)
