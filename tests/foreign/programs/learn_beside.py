# python: torch
# expected: healthy
# verdict: healthy
# seconds: 18
# setup: neighbour 2
# env: OMP_NUM_THREADS=2
# Why: somebody else's job keeps every core busy beside it. The training gets half of the machine and uses it; its own
# threads are as many as the cores. A remark is right, an accusation is not.
import torch
from torch import nn

model = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(4096, 512)
y = torch.randint(0, 10, (4096,))
for epoch in range(1000):
    for step in range(32):
        rows = slice(step * 128, (step + 1) * 128)
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"epoch {epoch} step {step}/32 loss {loss.item():.4f}", flush=True)
