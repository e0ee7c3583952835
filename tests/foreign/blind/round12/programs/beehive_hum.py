# python: loops
# expected: dataloader-workers [also accepted: input-bound]
# verdict: slow
# seconds: 35
# where: DataLoader(
# Why: an epoch is a second of work, and at the start of each one the loader spawns its two workers anew, each of which imports
# torch again: seconds of waiting per epoch. persistent_workers=True keeps them.
"""Is there a queen in the hive? Spectrograms of hive hum and a small convolutional net."""
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

RATE, LENGTH = 8000, 8000


def record(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(LENGTH) / RATE
    labels = rng.integers(0, 2, n)
    sound = np.empty((n, LENGTH), np.int16)
    for i, queen in enumerate(labels):
        f0 = rng.normal(235 if queen else 275, 14)
        wave = sum(np.sin(2 * np.pi * k * f0 * t + rng.uniform(0, 6)) / k for k in range(1, 5))
        wave = wave * (1 + 0.4 * np.sin(2 * np.pi * rng.uniform(2, 6) * t)) + rng.normal(0, 1.6, LENGTH)
        sound[i] = np.clip(wave * 3000, -32000, 32000)
    return sound, labels


class HiveClips(Dataset):
    def __init__(self, sound, labels, frame=256, hop=96):
        self.sound, self.labels = sound, labels
        self.frame, self.hop = frame, hop
        self.window = np.hanning(frame).astype(np.float32)

    def __len__(self):
        return len(self.sound)

    def __getitem__(self, i):
        start = np.random.randint(0, 1500)
        clip = self.sound[i, start:start + 6400].astype(np.float32) / 32768
        frames = np.lib.stride_tricks.sliding_window_view(clip, self.frame)[::self.hop]
        spec = np.log1p(100 * np.abs(np.fft.rfft(frames * self.window, axis=1)))[:, :64]
        return torch.from_numpy(spec.astype(np.float32))[None], int(self.labels[i])


class HumNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.head = nn.Linear(48 * 16, 2)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


def main():
    torch.manual_seed(0)
    sound, labels = record(640, 7)
    # the recorder's driver does not survive a fork, hence spawn here as in the field version
    loader = DataLoader(HiveClips(sound, labels), batch_size=32, shuffle=True, num_workers=2,
                        multiprocessing_context="spawn")
    model = HumNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    step, began = 0, time.time()
    for epoch in range(2000):
        right = seen = 0
        for spec, label in loader:
            logits = model(spec)
            loss = F.cross_entropy(logits, label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            right += (logits.argmax(1) == label).sum().item()
            seen += len(label)
            if step % 5 == 0:
                print(f"[{time.time() - began:6.1f}s] epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
        print(f"epoch {epoch} accuracy {right / seen:.3f}", flush=True)


if __name__ == "__main__":
    main()
