# python: torch
# expected: worker-deadlock [also accepted: waits-for-pipe]
# verdict: stuck|not-started
# seconds: 30
# where: with INDEX_LOCK / for spec, label in loader
# Why: a background thread holds the cache's lock at the moment the loader forks its workers; in the children the lock is taken by a thread that does not exist there. Happens to every in-process cache with a warm-up thread.
import threading
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

INDEX_LOCK = threading.Lock()
WORDS = ["yes", "no", "up", "down", "left", "right", "stop", "go"]


def synth(i, seconds=1, rate=8000):
    rng = np.random.default_rng(i)
    label = i % len(WORDS)
    t = np.arange(seconds * rate) / rate
    chirp = np.sin(2 * np.pi * (200 + 60 * label) * t * (1 + 0.3 * t))
    return (chirp + 0.3 * rng.normal(size=len(t))).astype(np.float32), label


def spectrogram(wave, frame=256, hop=80):
    frames = np.lib.stride_tricks.sliding_window_view(wave, frame)[::hop]
    return np.log(np.abs(np.fft.rfft(frames * np.hanning(frame))) + 1e-3).astype(np.float32)


class SpectrogramCache:
    def __init__(self, limit=600):
        self.items, self.limit = {}, limit

    def get(self, i):
        with INDEX_LOCK:
            if i in self.items:
                return self.items[i]
        wave, label = synth(i)
        return spectrogram(wave), label

    def warm(self, indices):
        for start in range(0, len(indices), 200):
            with INDEX_LOCK:
                for i in indices[start:start + 200]:
                    wave, label = synth(i)
                    if len(self.items) < self.limit:
                        self.items[i] = (spectrogram(wave), label)


class Commands(Dataset):
    def __init__(self, n, cache):
        self.n, self.cache = n, cache

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        spec, label = self.cache.get(i)
        return torch.from_numpy(spec)[None], label


def main():
    torch.manual_seed(0)
    cache = SpectrogramCache()
    warmer = threading.Thread(target=cache.warm, args=(list(range(4000)),), daemon=True)
    warmer.start()
    net = nn.Sequential(
        nn.Conv2d(1, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(288, len(WORDS)))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    loader = DataLoader(Commands(4000, cache), batch_size=32, shuffle=True, num_workers=2, persistent_workers=True)
    step = 0
    for epoch in range(200):
        for spec, label in loader:
            loss = nn.functional.cross_entropy(net(spec), label)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 10 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
