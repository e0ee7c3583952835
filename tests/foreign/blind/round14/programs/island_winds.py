# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: two ranks wait for one another now and then: for the gradients in every step, and while rank 0 scores the held out days and
# writes a checkpoint. Both waits are short, the work is evenly shared and the loss falls in jumps.
"""Wind on an island six hours ahead, from twelve stations; two processes share every batch."""
import os
import pathlib
import socket
import tempfile
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn

WORLD = 2
STATIONS, HOURS = 12, 48


def draw_winds(hours, seed):
    """Fronts pass over the stations one after the other, on top of the sea breeze of the day."""
    rng = np.random.default_rng(seed)
    front = np.zeros(hours + 40)
    at = 0
    while at < hours:
        at += int(rng.integers(20, 90))
        front[at:at + 30] += rng.uniform(2, 9) * np.exp(-np.arange(len(front[at:at + 30])) / 9)
    late = np.arange(STATIONS)
    wind = np.stack([front[20 - d:20 - d + hours] for d in late], 1)
    wind += 2.5 * np.maximum(0, np.sin(2 * np.pi * (np.arange(hours)[:, None] - 8) / 24)) * (1 + late / 12)
    wind += rng.normal(0, 0.6, wind.shape)
    return torch.tensor((wind - wind.mean(0)) / wind.std(0), dtype=torch.float32)


class WindNet(nn.Module):
    def __init__(self, width=96, heads=4):
        super().__init__()
        self.inputs = nn.Linear(STATIONS, width)
        self.places = nn.Parameter(0.02 * torch.randn(HOURS, width))
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 3)
        self.head = nn.Linear(width, STATIONS)

    def forward(self, x):
        return self.head(self.encoder(self.inputs(x) + self.places)[:, -1])


def share_gradients(params):
    flat = torch.cat([p.grad.reshape(-1) for p in params])
    dist.all_reduce(flat)
    for p, part in zip(params, (flat / WORLD).split([p.numel() for p in params])):
        p.grad.copy_(part.view_as(p))


def windows(series, rows):
    x = torch.stack([series[r:r + HOURS] for r in rows.tolist()])
    return x, torch.stack([series[r + HOURS + 5] for r in rows.tolist()])


def train(rank, port, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=WORLD)
    torch.manual_seed(7)
    model = WindNet()
    params = list(model.parameters())
    optimizer = torch.optim.AdamW(params, lr=1e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 60))
    series, held = draw_winds(12000, 1), draw_winds(1000, 2)
    step, began = 0, time.time()
    for epoch in range(400):
        order = torch.randperm(len(series) - HOURS - 6, generator=torch.Generator().manual_seed(epoch))
        for rows in order[:len(order) // 64 * 64].split(64):
            x, y = windows(series, rows[rank::WORLD])
            loss = nn.functional.huber_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            share_gradients(params)
            nn.utils.clip_grad_norm_(params, 1.0)
            optimizer.step()
            schedule.step()
            step += 1
            if rank == 0 and step % 5 == 0:
                print(f"epoch {epoch + 1} step {step} loss {loss.item():.4f} ({step / (time.time() - began):.1f}/s)", flush=True)
            if step % 120 == 0:
                if rank == 0:
                    model.eval()
                    with torch.no_grad():
                        x, y = windows(held, torch.arange(0, len(held) - HOURS - 6, 8))
                        error = (model(x) - y).abs().mean().item()
                    model.train()
                    torch.save(model.state_dict(), folder / "winds.pt")
                    print(f"held out: mean error {error:.3f}", flush=True)
                dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    mp.spawn(train, args=(free, pathlib.Path(tempfile.mkdtemp(prefix="winds-"))), nprocs=WORLD)
