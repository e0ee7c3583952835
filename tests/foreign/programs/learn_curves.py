# python: torch
# expected: healthy
# verdict: healthy
# seconds: 18
# how: attach
# env: OMP_NUM_THREADS=2
# Why: a plain PyTorch loop, bound by its model.
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
                      nn.Conv2d(64, 64, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters())
x = torch.rand(512, 3, 48, 48)
y = torch.randint(0, 10, (512,))
for epoch in range(1000):
    for step in range(16):
        rows = slice(step * 32, (step + 1) * 32)
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch} step {step}/16 loss {loss.item():.4f}", flush=True)
