# python: torch
# expected: thread-oversubscription
# verdict: slow
# seconds: 18
# env: OMP_NUM_THREADS=32
# most-cores: 16
# Why: a job script written for a larger machine sets OMP_NUM_THREADS=32: 32 threads take turns on 2 cores and wait for
# one another at every operation.
import torch
from torch import nn

model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(4096, 512)
y = torch.sin(x[:, :1])
for epoch in range(1000):
    for step in range(32):
        rows = slice(step * 128, (step + 1) * 128)
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"epoch {epoch} step {step}/32 loss {loss.item():.4f}", flush=True)
