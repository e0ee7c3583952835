# python: torch
# expected: step-time-grows [also accepted: host-memory-leak]
# verdict: slow
# seconds: 22
# where: running / backward
# Why: the running loss is a tensor with a history, so the graph of all earlier steps is walked again by every backward.
import time

import torch
from torch import nn

model = nn.Sequential(nn.Linear(128, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
x = torch.randn(64, 128)
y = torch.randn(64, 1)
running = torch.zeros(())
for step in range(100000):
    started = time.time()
    loss = nn.functional.mse_loss(model(x), y)
    running = 0.9 * running + 0.1 * loss
    regularised = loss + 0.01 * running
    model.zero_grad()
    regularised.backward(retain_graph=True)
    with torch.no_grad():
        for weight in model.parameters():
            weight.data -= 1e-4 * weight.grad
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f} {1000 * (time.time() - started):.1f} ms", flush=True)
