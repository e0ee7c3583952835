# python: torch
# truth: batch=makes data, step=computes, gather=communicates, report=logs
# Why: two ranks over gloo average their slopes by hand; the other rank has the larger orchard and comes late.
import contextlib
import json
import os
import socket
import tempfile

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

import stopwatch


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def nothing(name):
    return contextlib.nullcontext()


def grow(rng, trees, seasons=48):
    """A tree's seasons: rain, warmth, and what the two did to one another."""
    rows = np.empty((trees, seasons, 12), np.float32)
    for tree in range(trees):
        rain = np.cumsum(rng.normal(size=seasons))
        warmth = np.convolve(rng.normal(size=seasons), np.hanning(7), mode="same")
        for k in range(12):
            rows[tree, :, k] = np.roll(rain, k) * warmth + np.sort(rng.random(seasons))
    return torch.from_numpy(rows), torch.from_numpy(rows[:, -6:, 0].mean(axis=1, keepdims=True))


class Yield(nn.Module):
    def __init__(self):
        super().__init__()
        self.seasons = nn.GRU(12, 192, batch_first=True)
        self.head = nn.Sequential(nn.Linear(192, 512), nn.ReLU(), nn.Linear(512, 1))

    def forward(self, rows):
        return self.head(self.seasons(rows)[0][:, -1])


def average(model):
    for weights in model.parameters():
        dist.all_reduce(weights.grad)
        weights.grad /= dist.get_world_size()


def write_report(folder, step, model, losses):
    rows = {"step": step, "losses": losses[-200:]}
    for name, weights in model.named_parameters():
        rows[name] = weights.detach().flatten()[:30_000].tolist()
    with open(os.path.join(folder, f"report{step % 4}.json"), "w") as file:
        json.dump(rows, file, indent=1)


def work(rank, port):
    torch.set_num_threads(1)
    torch.manual_seed(3)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", f"tcp://127.0.0.1:{port}", world_size=2, rank=rank)
    part = stopwatch.part if rank == 0 else nothing
    rng = np.random.default_rng(100 + rank)
    model, losses = Yield(), []
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    trees, folder = (80, 125)[rank], tempfile.mkdtemp()
    dist.barrier()
    if rank == 0:
        stopwatch.started()
    for step in range(5_000):
        with part("step"):
            optimizer.zero_grad()
        for _ in range(3):
            with part("batch"):
                rows, yields = grow(rng, trees)
            with part("step"):
                loss = nn.functional.mse_loss(model(rows), yields) / 3
                loss.backward()
        with part("gather"):
            average(model)
        with part("step"):
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        if rank == 0 and step % 3 == 2:
            with part("report"):
                write_report(folder, step, model, losses)
            print(f"step {step} loss {losses[-1]:.4f}", flush=True)


if __name__ == "__main__":
    port = free_port()
    other = mp.get_context("spawn").Process(target=work, args=(1, port), daemon=True)
    other.start()
    work(0, port)
