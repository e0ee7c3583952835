# python: torch
# expected: healthy
# verdict: healthy
# seconds: 18
# env: OMP_NUM_THREADS=2
# Why: forty threads that sleep (heartbeats, log shippers, metric servers) beside one that trains: many threads, no crowd.
import threading
import time

import torch
from torch import nn


def heartbeat(period):
    while True:
        time.sleep(period)


for i in range(40):
    threading.Thread(target=heartbeat, args=(1 + i % 7,), daemon=True, name=f"heartbeat-{i}").start()
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 5))
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(2048, 256)
y = torch.randint(0, 5, (2048,))
for epoch in range(1000):
    for step in range(16):
        rows = slice(step * 128, (step + 1) * 128)
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 0:
            print(f"epoch {epoch} step {step}/16 loss {loss.item():.4f}", flush=True)
