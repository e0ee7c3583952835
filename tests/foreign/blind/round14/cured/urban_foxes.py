# python: loops
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: the same program without the fault.
"""Foxes in town: from where collars were in the evening to where they are at night, one night a batch, two processes."""
import os
import tempfile

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

NIGHTS, FOXES, FIXES = 61, 48, 40


def draw_nights(seed=14):
    random = np.random.default_rng(seed)
    nights = []
    for _ in range(NIGHTS):
        steps = random.normal(0, 0.2, (FOXES, FIXES, 2)) + random.normal(0, 0.15, (FOXES, 1, 2))
        path = np.cumsum(steps, 1)
        den = np.tanh(path[:, :20].mean(1) + 0.5 * path[:, -8:].mean(1))
        nights.append((torch.tensor(path, dtype=torch.float32), torch.tensor(den, dtype=torch.float32)))
    return nights


class Tracker(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.enter = nn.Linear(2, width)
        layer = nn.TransformerEncoderLayer(width, 4, 192, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.places = nn.Parameter(torch.randn(FIXES, width) * 0.02)
        self.leave = nn.Linear(width, 2)

    def forward(self, path):
        return self.leave(self.body(self.enter(path) + self.places).mean(1))


def work(rank, ranks, folder):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=ranks)
    nights = draw_nights()
    mine = nights[rank:len(nights) // ranks * ranks:ranks]
    model = DistributedDataParallel(Tracker())
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    for epoch in range(1000):
        order = np.random.default_rng(epoch).permutation(len(mine))
        for step, night in enumerate(order):
            path, den = mine[night]
            optimizer.zero_grad()
            loss = F.mse_loss(model(path), den)
            loss.backward()
            optimizer.step()
            if rank == 0:
                print(f"epoch {epoch} step {step + 1} loss {loss.item():.4f}", flush=True)
        dist.barrier()
        if rank == 0:
            torch.save(model.module.state_dict(), os.path.join(folder, "tracker.pt"))
            print(f"epoch {epoch} is kept", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        torch.multiprocessing.spawn(work, args=(2, temporary), nprocs=2)
