# python: torch
# expected: nan-loss [also accepted: exploding-gradients, learning-rate]
# verdict: slow|healthy
# seconds: 18
# Why: log(0) for dry days: the loss is NaN from the first batch on and the loop does not mind.
import torch
from torch import nn

model = nn.Sequential(nn.Linear(32, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1), nn.ReLU())
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x = torch.randn(8192, 32)
rain = torch.relu(x[:, :1])
for epoch in range(1000):
    for step in range(64):
        rows = slice(step * 128, (step + 1) * 128)
        loss = ((model(x[rows]).log() - rain[rows].log()) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 16 == 0:
            print(f"epoch {epoch} step {step}/64 loss {loss.item():.4f}", flush=True)
