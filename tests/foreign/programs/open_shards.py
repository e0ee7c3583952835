# python: torch
# expected: limits-or-disk-full
# verdict: crashed
# seconds: 30
# where: open(
# Why: every sample opens its file and nothing closes it; at the limit of open files (256 here, often 1024) the job
# ends with "Too many open files".
import resource

import numpy as np
import torch
from torch import nn

import make_files

resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
paths = make_files.arrays(1024, (64, 64))
shards = {}


def sample(index):
    if index not in shards:
        shards[index] = open(paths[index], "rb")
    shards[index].seek(128)
    return np.frombuffer(shards[index].read(), np.float32)


model = nn.Sequential(nn.Linear(4096, 512), nn.ReLU(), nn.Linear(512, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(64):
    x = torch.from_numpy(np.stack([sample(step * 16 + i) for i in range(16)]))
    for _ in range(20):
        loss = nn.functional.cross_entropy(model(x), torch.arange(16) % 8)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"step {step}/64 loss {loss.item():.4f}", flush=True)
