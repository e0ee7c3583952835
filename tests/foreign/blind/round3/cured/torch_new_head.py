# python: torch
# expected: weights-not-updated [also accepted: loss-frozen, gradient-not-connected]
# verdict: healthy|slow|stuck
# seconds: 30
# env: OMP_WAIT_POLICY=PASSIVE
# where: torch.optim.Adam( / model.fc = 
# Why: fine-tuning: the body is frozen, the optimizer is made, and only then the head is replaced by one for the new classes; the optimizer still
# holds the old head, so nothing that is used is ever moved.
import os
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
torch.set_num_threads(os.cpu_count())
NEW_CLASSES = 8


class SmallResNet(nn.Module):
    def __init__(self, classes=100):
        super().__init__()
        self.stem = nn.Conv2d(3, 24, 3, stride=2, padding=1)
        self.convs = nn.ModuleList([nn.Conv2d(24, 24, 3, padding=1) for _ in range(4)])
        self.down = nn.Conv2d(24, 96, 3, stride=2, padding=1)
        self.fc = nn.Linear(96 * 16, classes)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for conv in self.convs:
            x = x + 0.5 * F.relu(conv(x))
        x = F.adaptive_avg_pool2d(F.relu(self.down(x)), 4)
        return self.fc(x.flatten(1))


def flowers(n):
    rng = np.random.default_rng(9)
    proto = rng.standard_normal((NEW_CLASSES, 3, 8, 8)).repeat(4, axis=2).repeat(4, axis=3)
    y = rng.integers(0, NEW_CLASSES, n)
    x = proto[y] + 0.8 * rng.standard_normal((n, 3, 32, 32))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def configure(model, lr):
    for name, p in model.named_parameters():
        p.requires_grad = name.startswith("fc.")
    return torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr, weight_decay=1e-4)


x_all, y_all = flowers(4000)
model = SmallResNet()
model.fc = nn.Linear(model.fc.in_features, NEW_CLASSES)
optimizer = configure(model, lr=1e-3)

step = 0
for epoch in range(500):
    order = torch.randperm(len(x_all))
    total, right = 0.0, 0
    for i in range(0, len(order), 50):
        pick = order[i:i + 50]
        logits = model(x_all[pick])
        loss = F.cross_entropy(logits, y_all[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        total += loss.item() * len(pick)
        right += (logits.argmax(1) == y_all[pick]).sum().item()
        if step % 20 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
    print(f"epoch {epoch} mean loss {total / len(order):.4f} accuracy {right / len(order):.3f}", flush=True)
