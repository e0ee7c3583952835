# python: torch
# expected: cpu-quota
# verdict: slow
# seconds: 18
# setup: cpu-quota 30
# env: OMP_NUM_THREADS=2
# Why: a cgroup grants 30% of one core; two threads use that up in the first part of every 100 ms and then stand still.
import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(4096, 256)
y = x[:, :1] ** 2
for epoch in range(1000):
    for step in range(64):
        rows = slice(step * 64, (step + 1) * 64)
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"epoch {epoch} step {step}/64 loss {loss.item():.4f}", flush=True)
