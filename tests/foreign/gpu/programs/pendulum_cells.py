# python: gpu
# expected: launch-bound [also accepted: batch-too-small]
# verdict: slow
# seconds: 26
# Why: a cell written in Python steps 200 times through a sequence, each time some ten tiny kernels.
import torch
from torch import nn

device = "cuda"
cell, head = nn.GRUCell(8, 64).to(device), nn.Linear(64, 8).to(device)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], 1e-3)
t = torch.linspace(0, 20, 201, device=device)
for step in range(1, 100000):
    phase = torch.rand(32, 1, 8, device=device) * 6.28
    wave = torch.sin(t[None, :, None] + phase)
    state = torch.zeros(32, 64, device=device)
    loss = torch.zeros((), device=device)
    for k in range(200):
        state = cell(wave[:, k], state)
        loss = loss + nn.functional.mse_loss(head(state), wave[:, k + 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item() / 200:.5f}", flush=True)
