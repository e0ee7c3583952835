# python: torch
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: after 60 steps rank 0 alone evaluates, and the evaluation gathers the scores of both ranks; rank 1 is already in the all_reduce of
# the next step's gradients. Each waits for a call that the other never makes.
"""Yield of maize fields from a season of satellite readings, on two processes that average their gradients."""
import os
import socket
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn

WORLD = 2
WEEKS, BANDS = 40, 10
EVALUATE_EVERY = 60


def draw_fields(count, seed):
    rng = np.random.default_rng(seed)
    peak = rng.uniform(14, 26, (count, 1, 1))
    vigour = rng.uniform(0.3, 1.0, (count, 1, 1))
    weeks = np.arange(WEEKS)[None, :, None]
    bands = np.linspace(-1, 1, BANDS)[None, None, :]
    season = vigour * np.exp(-((weeks - peak) / 7) ** 2) * (1 + bands) + rng.normal(0, 0.1, (count, WEEKS, BANDS))
    tons = 4 + 8 * vigour[:, 0, 0] - 0.1 * np.abs(peak[:, 0, 0] - 20) + rng.normal(0, 0.3, count)
    return torch.tensor(season, dtype=torch.float32), torch.tensor((tons - 9) / 2, dtype=torch.float32)


class FieldNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.season = nn.GRU(BANDS, 96, num_layers=2, batch_first=True)
        self.head = nn.Sequential(nn.Linear(96, 48), nn.GELU(), nn.Linear(48, 1))

    def forward(self, x):
        out, _ = self.season(x)
        return self.head(out.mean(1)).squeeze(1)


def average_gradients(model):
    flat = torch.cat([p.grad.reshape(-1) for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= WORLD
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()


@torch.no_grad()
def evaluate(model, season, tons):
    model.eval()
    part = torch.stack([(model(season) - tons).abs().sum(), torch.tensor(float(len(tons)))])
    parts = [torch.zeros_like(part) for _ in range(WORLD)]
    dist.all_gather(parts, part)
    model.train()
    error, count = torch.stack(parts).sum(0).tolist()
    return 2 * error / count


def train(rank, port):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=WORLD)
    torch.manual_seed(0)
    model = FieldNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    season, tons = draw_fields(3000, seed=10 + rank)
    held_season, held_tons = draw_fields(200, seed=20 + rank)
    step, began = 0, time.time()
    while step < 20000:
        for rows in torch.randperm(len(season)).split(50):
            loss = nn.functional.mse_loss(model(season[rows]), tons[rows])
            optimizer.zero_grad()
            loss.backward()
            average_gradients(model)
            optimizer.step()
            step += 1
            if rank == 0 and step % 5 == 0:
                print(f"step {step} loss {loss.item():.4f} ({step / (time.time() - began):.1f}/s)", flush=True)
            if step % EVALUATE_EVERY == 0:
                error = evaluate(model, held_season, held_tons)
                if rank == 0:
                    print(f"held out: off by {error:.2f} t/ha", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    mp.spawn(train, args=(free,), nprocs=WORLD)
