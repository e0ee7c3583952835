# python: torch
# expected: rendezvous-waits
# verdict: stuck|not-started
# seconds: 26
# where: init_process_group
# Why: the job says two processes, one was started: init_process_group waits for the other.
import os

import torch
import torch.distributed as dist
from torch import nn

os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29541")
dist.init_process_group("gloo", rank=0, world_size=2)
model = nn.parallel.DistributedDataParallel(nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(1000):
    loss = model(torch.randn(64, 16)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}", flush=True)
