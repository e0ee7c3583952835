# python: torch
# expected: healthy
# verdict: healthy
# seconds: 20
# env: OMP_NUM_THREADS=2
# Why: every few seconds the loop pauses to write a checkpoint with fsync, far below a twentieth of the time.
import os
import tempfile
import time

import torch
from torch import nn

folder = tempfile.mkdtemp(prefix="steadily-")
model = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(8192, 512)
y = torch.randint(0, 10, (8192,))


def save(epoch):
    with open(os.path.join(folder, "latest.pt"), "wb") as out:
        torch.save({"model": model.state_dict(), "epoch": epoch}, out)
        os.fsync(out.fileno())


saved = time.time()
for epoch in range(1000):
    for step in range(64):
        rows = slice(step * 128, (step + 1) * 128)
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 16 == 0:
            print(f"epoch {epoch} step {step}/64 loss {loss.item():.4f}", flush=True)
    if time.time() - saved > 6:
        save(epoch)
        saved = time.time()
