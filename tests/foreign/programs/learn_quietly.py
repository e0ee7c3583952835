# python: torch
# expected: healthy
# verdict: healthy
# seconds: 18
# how: attach
# env: OMP_NUM_THREADS=2
# Why: a batch job that prints nothing at all until it ends; only its counters move.
import torch
from torch import nn

model = nn.LSTM(32, 128, num_layers=2, batch_first=True)
head = nn.Linear(128, 1)
optimizer = torch.optim.Adam(list(model.parameters()) + list(head.parameters()))
series = torch.randn(1024, 40, 32)
target = series[:, :, 0].sum(dim=1, keepdim=True)
losses = []
for epoch in range(200):
    for step in range(16):
        rows = slice(step * 64, (step + 1) * 64)
        states, _ = model(series[rows])
        loss = nn.functional.mse_loss(head(states[:, -1]), target[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
print(f"done, last loss {losses[-1]:.4f}")
