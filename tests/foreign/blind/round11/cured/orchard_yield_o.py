import os
import tempfile
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

TREES = 12865
FEATURES = 48
BATCH = 32
EPOCHS = 200


def survey(seed=4):
    """Soil, weather and pruning measurements of every tree, and the crates picked from it."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(TREES, FEATURES)).astype(np.float32)
    w1 = rng.normal(size=(FEATURES, 12)).astype(np.float32) / np.sqrt(FEATURES)
    w2 = rng.normal(size=(12, 1)).astype(np.float32)
    y = np.tanh(x @ w1) @ w2 + 0.1 * rng.normal(size=(TREES, 1)).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y.astype(np.float32))


class YieldNet(nn.Module):
    def __init__(self, width=384):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(FEATURES, width), nn.GELU(),
            nn.Linear(width, width), nn.GELU(),
            nn.Linear(width, width), nn.GELU(),
        )
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.body(x))


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        err = nn.functional.mse_loss(model(x), y).item()
    model.train()
    return err


def main(rank, world, meeting_point):
    torch.set_num_threads(1)
    torch.manual_seed(17)
    dist.init_process_group("gloo", init_method="file://" + meeting_point, rank=rank, world_size=world)

    x, y = survey()
    held_x, held_y = survey(seed=5)
    even = len(x) - len(x) % world
    shard = TensorDataset(x[:even][rank::world], y[:even][rank::world])
    loader = DataLoader(shard, batch_size=BATCH, shuffle=True)

    model = DistributedDataParallel(YieldNet())
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    criterion = nn.MSELoss()

    step = 0
    for epoch in range(EPOCHS):
        began = time.time()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
            step += 1
            if rank == 0 and step % 25 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
        dist.barrier()
        if rank == 0:
            err = evaluate(model.module, held_x[:2000], held_y[:2000])
            print(f"epoch {epoch} done in {time.time() - began:.1f}s, train {total / len(loader):.4f}, held-out {err:.4f}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    folder = tempfile.mkdtemp(prefix="orchard")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    mp.spawn(main, args=(2, os.path.join(folder, "meet")), nprocs=2, join=True)
