"""Which bird is calling? One-dimensional convolutions over short clips, with a fixed set of probe clips to watch."""
import math

import torch
from torch import nn

SPECIES, LENGTH, BATCH = 6, 800, 32


class Clips:
    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.time = torch.arange(LENGTH) / 8000.0

    def draw(self, count):
        kind = torch.randint(0, SPECIES, (count,), generator=self.generator)
        pitch = (400.0 + 350.0 * kind.float() + 60 * torch.randn(count, generator=self.generator)).unsqueeze(1)
        sweep = pitch * self.time + 2000 * (kind.float().unsqueeze(1) - 2) * self.time ** 2
        clip = torch.sin(2 * math.pi * sweep) + 0.8 * torch.randn(count, LENGTH, generator=self.generator)
        return clip.unsqueeze(1), kind


def make_model():
    return nn.Sequential(
        nn.Conv1d(1, 24, 31, stride=2, padding=15), nn.ReLU(),
        nn.Conv1d(24, 32, 15, stride=2, padding=7), nn.ReLU(),
        nn.Conv1d(32, 48, 9, stride=2, padding=4), nn.ReLU(),
        nn.AdaptiveAvgPool1d(1), nn.Flatten(),
        nn.Linear(48, SPECIES),
    )


def main():
    torch.manual_seed(7)
    clips = Clips(1)
    probe_x, probe_y = Clips(2).draw(32)
    model = make_model()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    probe_losses = []
    for step in range(1, 50001):
        x, y = clips.draw(BATCH)
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0:
            with torch.no_grad():
                probe_losses.append(criterion(model(probe_x), probe_y).item())
        if step % 30 == 0:
            recent = sum(probe_losses[-5:]) / len(probe_losses[-5:])
            print(f"step {step:5d} | loss {loss.item():.4f} | probe {recent:.4f} | best {min(probe_losses):.4f}")


if __name__ == "__main__":
    main()
