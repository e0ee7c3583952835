# python: torch
# expected: weights-not-updated [also accepted: loss-frozen, gradient-not-connected, learning-rate]
# verdict: healthy|slow|stuck
# seconds: 30
# where: optimizer = / optimizer.step / model = resume( / torch.load
# Why: the optimizer is made from the first model object; restoring the checkpoint builds a new one, which is trained but never moved. Happens when a "resume" part is added to a finished script.
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn

SIDE, KINDS = 32, 10


def build_model():
    return nn.Sequential(
        nn.Conv2d(3, 24, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(48, 48, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(192, KINDS))


def make_orchids(n=4096):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, KINDS, n)
    tint = rng.normal(0, 0.5, (KINDS, 3, 4, 4)).repeat(SIDE // 4, axis=2).repeat(SIDE // 4, axis=3)
    pictures = tint[kind] + rng.normal(0, 0.7, (n, 3, SIDE, SIDE))
    return torch.from_numpy(pictures.astype("float32")), torch.from_numpy(kind)


def pretrain(path):
    torch.manual_seed(1)
    torch.save(build_model().state_dict(), path)


def resume(path):
    model = build_model()
    model.load_state_dict(torch.load(path))
    return model


def main():
    torch.manual_seed(0)
    checkpoint = os.path.join(tempfile.mkdtemp(prefix="orchids_"), "backbone.pt")
    pretrain(checkpoint)
    pictures, kind = make_orchids()

    model = build_model()
    if os.path.exists(checkpoint):
        model = resume(checkpoint)
        print(f"resumed from {os.path.basename(checkpoint)}", flush=True)

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2000, 0.5)
    started, total = time.time(), 0.0
    model.train()
    for step in range(1, 20001):
        pick = torch.randint(0, len(pictures), (64,))
        loss = nn.functional.cross_entropy(model(pictures[pick]), kind[pick])
        model.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item()
        if step % 25 == 0:
            print(f"step {step}  loss {total / 25:.4f}  lr {scheduler.get_last_lr()[0]:.1e}  "
                  f"{time.time() - started:.1f} s", flush=True)
            total = 0.0


if __name__ == "__main__":
    main()
