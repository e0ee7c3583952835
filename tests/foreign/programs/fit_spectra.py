# python: torch
# expected: single-core-affinity [also accepted: thread-oversubscription]
# verdict: slow
# seconds: 18
# wrap: taskset -c 0
# env: OMP_NUM_THREADS=2
# Why: taskset ties the training to one core although the machine has more, and two threads share it.
import torch
from torch import nn

model = nn.Sequential(nn.Conv1d(1, 32, 9), nn.ReLU(), nn.Conv1d(32, 64, 9), nn.ReLU(), nn.AdaptiveAvgPool1d(1),
                      nn.Flatten(), nn.Linear(64, 8))
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(2048, 1, 256)
y = torch.randint(0, 8, (2048,))
for epoch in range(1000):
    for step in range(32):
        rows = slice(step * 64, (step + 1) * 64)
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 0:
            print(f"epoch {epoch} step {step}/32 loss {loss.item():.4f}", flush=True)
