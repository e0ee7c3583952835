# python: torch
# expected: limits-or-disk-full [also accepted: crashed]
# verdict: crashed
# seconds: 30
# where: all_targets.append / (spec, target) in enumerate(loader)
# wrap: prlimit --nofile=256
# Why: The label tensors that come from the workers are kept for the epoch's report; each one holds a file descriptor of shared memory,
# and the limit of open files is reached in the middle of the first epoch.
"""Which of 8 birds sings? Mel spectrograms, small CNN."""
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BIRDS = ["wren", "robin", "dunnock", "blackcap", "chiffchaff", "goldcrest", "siskin", "serin"]


class Recordings(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        bird = i % len(BIRDS)
        t = np.linspace(0, 1, 64, dtype=np.float32)
        pitch = 8 + 6 * bird + 3 * np.sin(2 * np.pi * (2 + bird) * t + rng.uniform(0, 6))
        mel = np.exp(-0.1 * (np.arange(64, dtype=np.float32)[:, None] - pitch[None]) ** 2)
        mel += 0.3 * rng.standard_normal((64, 64), dtype=np.float32)
        return torch.from_numpy(mel)[None].float(), bird


def build():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(),
        nn.Conv2d(32, 32, 3, 2, 1), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * 8 * 8, len(BIRDS)))


def report(targets, preds):
    targets, preds = torch.cat(targets), torch.cat(preds)
    for k, name in enumerate(BIRDS):
        of_bird = targets == k
        print(f"    {name:12s} recall {(preds[of_bird] == k).float().mean().item():.3f}")


def run_epoch(epoch, model, loader, opt):
    all_targets, all_preds = [], []
    t0 = time.time()
    for step, (spec, target) in enumerate(loader):
        logits = model(spec)
        loss = nn.functional.cross_entropy(logits, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        all_targets.append(target)
        all_preds.append(logits.argmax(1))
        if step % 25 == 0:
            rate = (step + 1) / (time.time() - t0)
            print(f"epoch {epoch} | step {step} | loss {loss.item():.4f} | {rate:.1f} it/s", flush=True)
    report(all_targets, all_preds)


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(Recordings(64000), batch_size=32, shuffle=True, num_workers=2)
    model = build()
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(100):
        run_epoch(epoch, model, loader, opt)
