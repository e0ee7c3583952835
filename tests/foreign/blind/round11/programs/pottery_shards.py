# python: torch
# expected: worker-deadlock
# verdict: not-started | stuck
# seconds: 28
# where: with self._guard
# Why: a thread holds the texture bank's lock while the DataLoader forks its workers; in the children the lock stays closed for ever,
# because the thread that would open it does not exist there.
import logging
import threading

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("pottery")

CLASSES = 6
SIDE = 40


class TextureBank:
    """Glaze textures, one stack per period. Filled in the background so that start-up stays short."""

    def __init__(self, per_period=48):
        self._guard = threading.Lock()
        self._stacks = {}
        self.per_period = per_period
        self._filler = threading.Thread(target=self._fill, daemon=True)
        self._filler.start()

    def _fill(self):
        with self._guard:
            for period in range(CLASSES):
                self._stacks[period] = self._synthesise(period)
            log.info("texture bank ready: %d stacks", len(self._stacks))

    def _synthesise(self, period):
        rng = np.random.default_rng(period)
        freq = np.hypot(*np.meshgrid(np.fft.fftfreq(512), np.fft.fftfreq(512)))
        envelope = np.exp(-((freq - 0.04 * (period + 1)) ** 2) / 0.0008)
        stack = []
        for _ in range(self.per_period):
            noise = rng.normal(size=(512, 512))
            field = np.fft.ifft2(np.fft.fft2(noise) * envelope).real
            stack.append((field / field.std()).astype(np.float32)[:128, :128])
        return np.stack(stack)

    def patch(self, period, rng):
        with self._guard:
            stack = self._stacks[period]
        r, c = rng.integers(0, 128 - SIDE, 2)
        return stack[rng.integers(len(stack)), r:r + SIDE, c:c + SIDE]


class Shards(Dataset):
    def __init__(self, bank, n=6000):
        self.bank = bank
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        period = i % CLASSES
        patch = self.bank.patch(period, rng)
        patch = patch * rng.uniform(0.7, 1.3) + 0.8 * rng.normal(size=patch.shape)
        return torch.from_numpy(patch[None].astype(np.float32)), period


def build():
    return nn.Sequential(
        nn.Conv2d(1, 24, 5, stride=2), nn.BatchNorm2d(24), nn.ReLU(),
        nn.Conv2d(24, 48, 3, stride=2), nn.BatchNorm2d(48), nn.ReLU(),
        nn.Conv2d(48, 64, 3), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, CLASSES),
    )


def train():
    torch.manual_seed(0)
    bank = TextureBank()
    loader = DataLoader(Shards(bank), batch_size=48, shuffle=True, num_workers=2)
    model = build()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    log.info("training %d parameters", sum(p.numel() for p in model.parameters()))
    step = 0
    for epoch in range(60):
        hits = seen = 0
        for images, periods in loader:
            logits = model(images)
            loss = nn.functional.cross_entropy(logits, periods)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            hits += (logits.argmax(1) == periods).sum().item()
            seen += len(periods)
            if step % 20 == 0:
                log.info("epoch %d step %d loss %.4f acc %.3f", epoch, step, loss.item(), hits / seen)


if __name__ == "__main__":
    train()
