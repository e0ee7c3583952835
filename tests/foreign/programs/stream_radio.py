# python: torch
# expected: slow-storage [also accepted: input-bound, network-storage]
# verdict: slow
# seconds: 18
# where: read
# Why: the samples come through a pipe from a process that delivers 2 MB a second, as a remote disk does that is read by
# `ssh host cat` or an object store's own tool. The training waits in read most of the time, all cores idle.
import subprocess
import sys

import numpy as np
import torch
from torch import nn

import make_files

SENDER = """
import sys, time
with open(sys.argv[1], 'rb', buffering=0) as source:
    while True:
        part = source.read(65536) or source.seek(0) or source.read(65536)
        sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
        time.sleep(65536 / 2e6)
"""
link = subprocess.Popen([sys.executable, "-c", SENDER, make_files.blob(32)], stdout=subprocess.PIPE)
model = nn.Sequential(nn.Linear(4096, 64), nn.ReLU(), nn.Linear(64, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(100000):
    raw = link.stdout.read(128 * 4096)
    x = torch.from_numpy(np.frombuffer(raw, np.uint8).astype(np.float32).reshape(128, 4096)) / 255.0
    loss = nn.functional.cross_entropy(model(x), torch.arange(128) % 8)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}", flush=True)
