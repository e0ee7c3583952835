# python: torch
# The same program without its fault.
"""Find worn rail sections from the vibration of a metro axle (two sensors, 1024 samples)."""
import time
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Settings:
    steps: int = 12000
    batch: int = 96
    samples: int = 1024
    classes: int = 6
    lr: float = 1e-3
    review_every: int = 1100


@dataclass
class Review:
    """Hardest signals since the last review, for the engineers."""

    kept: list = field(default_factory=list)

    def add(self, step, losses, signals, classes):
        worst = int(losses.argmax())
        self.kept.append((float(losses[worst]), step, int(classes[worst]), signals[worst].clone()))

    def write(self):
        self.kept.sort(key=lambda entry: entry[0], reverse=True)
        for loss, step, kind, signal in self.kept[:5]:
            print(f"  review: step {step} class {kind} loss {loss:.2f} rms {signal.pow(2).mean().sqrt():.3f}")
        self.kept.clear()


class Axle:
    def __init__(self, settings, seed=21):
        self.s = settings
        self.g = torch.Generator().manual_seed(seed)
        t = torch.arange(settings.samples) / 1000.0
        laws = torch.Generator().manual_seed(4)
        tones = 20 + 180 * torch.rand(settings.classes, 3, 1, generator=laws)
        self.waves = torch.sin(6.2832 * tones * t)
        self.bank = torch.randn(3000, 2, settings.samples, generator=self.g)

    def draw(self):
        kind = torch.randint(self.s.classes, (self.s.batch,), generator=self.g)
        gain = torch.rand(self.s.batch, 2, 3, generator=self.g) * 0.5
        noise = self.bank[torch.randint(len(self.bank), (self.s.batch,), generator=self.g)]
        return noise + torch.bmm(gain, self.waves[kind]), kind


def network(classes):
    return nn.Sequential(
        nn.Conv1d(2, 32, 15, stride=4, padding=7), nn.BatchNorm1d(32), nn.ReLU(),
        nn.Conv1d(32, 64, 9, stride=4, padding=4), nn.BatchNorm1d(64), nn.ReLU(),
        nn.Conv1d(64, 128, 9, padding=4), nn.BatchNorm1d(128), nn.ReLU(),
        nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(128, classes),
    )


def main():
    settings = Settings()
    torch.manual_seed(21)
    axle = Axle(settings)
    net = network(settings.classes)
    optimizer = torch.optim.Adam(net.parameters(), lr=settings.lr)
    review = Review()
    began = time.time()
    for step in range(1, settings.steps + 1):
        signals, classes = axle.draw()
        losses = F.cross_entropy(net(signals), classes, reduction="none")
        optimizer.zero_grad()
        losses.mean().backward()
        optimizer.step()
        review.add(step, losses.detach(), signals, classes)
        if step % 10 == 0:
            print(f"{step:5d}  loss {losses.mean().item():.4f}  {time.time() - began:.1f} s", flush=True)
        if step % settings.review_every == 0:
            review.write()


if __name__ == "__main__":
    main()
