import os
import tempfile
import time
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SPECIES = 14
BANDS = 30


def transects(n, seed):
    g = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(SPECIES, BANDS)) * 0.55
    label = g.integers(0, SPECIES, n)
    spectra = centres[label] + g.normal(size=(n, BANDS))
    spectra = np.concatenate([spectra, np.sin(2 * spectra)], axis=1)
    return torch.tensor(spectra, dtype=torch.float32), torch.tensor(label)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.up = nn.Linear(d, 2 * d)
        self.down = nn.Linear(2 * d, d)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.drop(self.down(F.gelu(self.up(self.norm(x)))))


class SpectraNet(nn.Module):
    def __init__(self, d=192, depth=4):
        super().__init__()
        self.stem = nn.Linear(2 * BANDS, d)
        self.blocks = nn.Sequential(*[Block(d) for _ in range(depth)])
        self.head = nn.Linear(d, SPECIES)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


torch.manual_seed(1)
train_x, train_y = transects(40000, 1)
probe_x, probe_y = transects(40, 2)

net = SpectraNet()
opt = torch.optim.AdamW(net.parameters(), lr=4e-4, weight_decay=0.01)

train_curve = deque(maxlen=100)
probe_curve = []
step = 0
start = time.time()

for epoch in range(100):
    order = torch.randperm(len(train_x))
    for chunk in order.split(256):
        net.train()
        loss = F.cross_entropy(net(train_x[chunk]), train_y[chunk], label_smoothing=0.05)
        opt.zero_grad()
        loss.backward()
        opt.step()
        train_curve.append(loss.item())
        step += 1

        net.eval()
        with torch.no_grad():
            probe_curve.append(F.cross_entropy(net(probe_x), probe_y).item())

        if step % 10 == 0:
            recent = probe_curve[-20:]
            probe = float(sum(recent) / len(recent))
            print(f"[{time.time() - start:6.1f}s] epoch {epoch} step {step} loss {np.mean(train_curve):.4f} probe {probe:.4f}", flush=True)

torch.save({"net": net.state_dict(), "probe": [float(v) for v in probe_curve]}, os.path.join(tempfile.gettempdir(), "reef.pt"))
