# python: torch
# expected: slow-storage [also accepted: input-bound, dataset-exceeds-ram, dataloader-workers]
# verdict: slow
# seconds: 20
# setup: disk-limit 2
# where: read
# Why: a cgroup lets the job read 2 MB a second from its disk, as a cheap cloud disk does; the file is not in the page
# cache. The readers sit in the kernel, in state D.
import os

import numpy as np
import torch
from torch import nn

import make_files

path = make_files.blob(256)
handle = os.open(path, os.O_RDONLY)
os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_RANDOM)
tiles = os.fstat(handle).st_size // (64 * 4096)
model = nn.Sequential(nn.Linear(4096, 64), nn.ReLU(), nn.Linear(64, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(100000):
    raw = os.pread(handle, 64 * 4096, np.random.randint(tiles) * 64 * 4096)
    x = torch.from_numpy(np.frombuffer(raw, np.uint8).astype(np.float32).reshape(64, 4096)) / 255.0
    loss = nn.functional.cross_entropy(model(x), torch.arange(64) % 8)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
