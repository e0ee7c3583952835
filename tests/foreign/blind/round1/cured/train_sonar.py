# python: torch
# expected: worker-deadlock
# verdict: stuck|not-started
# seconds: 30
# where: with self.lock / for pings, depth in / Thread(target
# Why: a background thread fills the sound-profile cache under its lock while the DataLoader forks its workers; the children inherit the closed lock without the thread that would open it.
import threading
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BEAMS, SAMPLES, REGIONS = 16, 200, 40


class ProfileCache:
    """Sound speed profiles of all regions; made once, in the background."""

    def __init__(self):
        self.lock = threading.Lock()
        self.profiles = {}

    def compute(self, region):
        rng = np.random.default_rng(region)
        depth = np.linspace(0, 1, 400)
        kernel = np.exp(-np.abs(depth[:, None] - depth[None]) / 0.2) + 1e-4 * np.eye(400)
        factor = np.linalg.cholesky(kernel)
        return (factor @ rng.normal(size=(400, 40))).mean(axis=1)[:SAMPLES].astype("float32")

    def fill(self):
        with self.lock:
            for region in range(REGIONS):
                for _ in range(8):
                    self.profiles[region] = self.compute(region)

    def get(self, region):
        with self.lock:
            if region not in self.profiles:
                self.profiles[region] = self.compute(region)
            return self.profiles[region]


class SonarPings(Dataset):
    def __init__(self, cache, n=4000):
        self.cache, self.n = cache, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        profile = self.cache.get(i % REGIONS)
        depth = rng.uniform(0.1, 0.9)
        echo = np.exp(-0.5 * ((np.arange(SAMPLES) / SAMPLES - depth) / 0.03) ** 2)
        ping = echo[None] + 0.2 * profile[None] + rng.normal(0, 0.2, (BEAMS, SAMPLES))
        return torch.from_numpy(ping.astype("float32")), np.float32(depth)


def main():
    torch.manual_seed(0)
    cache = ProfileCache()
    cache.fill()
    loader = DataLoader(SonarPings(cache), batch_size=64, shuffle=True, num_workers=2)
    model = nn.Sequential(nn.Conv1d(BEAMS, 32, 9), nn.ReLU(), nn.Conv1d(32, 32, 9, stride=2), nn.ReLU(),
                          nn.Flatten(), nn.Linear(32 * 92, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    print("model ready", flush=True)
    started, step = time.time(), 0
    for epoch in range(100):
        for pings, depth in loader:
            loss = nn.functional.mse_loss(model(pings)[:, 0], depth)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 10 == 0:
                print(f"epoch {epoch}  step {step}  loss {loss.item():.4f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
