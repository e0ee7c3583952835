# python: torch
# The same program without its fault.
"""Forecast the bell contraction of moon jellyfish from four strain channels with a dilated convolution net."""
import argparse
import math
import time

import torch
from torch import nn


def swim(animals, length, generator):
    """Phase oscillators with a rest after each stroke; four channels around the bell."""
    t = torch.arange(length) / 20.0
    rate = 0.5 + torch.rand(animals, 1, generator=generator)
    drift = torch.cumsum(torch.randn(animals, length, generator=generator) * 0.04, 1)
    phase = 2 * math.pi * rate * t + drift
    lag = torch.tensor([0.0, 0.4, 0.9, 1.5]).view(1, 4, 1)
    stroke = torch.relu(torch.sin(phase.unsqueeze(1) - lag)) ** 2
    return stroke + 0.05 * torch.randn(animals, 4, length, generator=generator)


class Block(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3, padding=dilation, dilation=dilation)
        self.norm = nn.GroupNorm(4, width)

    def forward(self, x):
        return x + torch.relu(self.norm(self.conv(x)))


class PulseNet(nn.Module):
    def __init__(self, width, horizon):
        super().__init__()
        self.enter = nn.Conv1d(4, width, 5, padding=2)
        self.blocks = nn.Sequential(*[Block(width, 2**k) for k in range(6)])
        self.leave = nn.Linear(width, horizon)

    def forward(self, x):
        return self.leave(self.blocks(self.enter(x))[:, :, -1])


class Report:
    """Mean, spread and share of silent units of each block, for the log."""

    def __init__(self, net):
        self.net = net
        self.values = {}

    def keep(self, name):
        def hook(module, inputs, output):
            out = output.detach()
            self.values[name] = (out.mean().item(), out.std().item(), (out <= 0).float().mean().item())

        return hook

    def take(self, windows):
        handles = [
            block.register_forward_hook(self.keep(name)) for name, block in self.net.blocks.named_children()
        ]
        self.net.eval()
        with torch.no_grad():
            self.net(windows[:8])
        self.net.train()
        for handle in handles:
            handle.remove()
        return " ".join(f"{mean:.2f}/{std:.2f}" for mean, std, _ in self.values.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--window", type=int, default=160)
    parser.add_argument("--horizon", type=int, default=10)
    args = parser.parse_args()

    generator = torch.Generator().manual_seed(3)
    recordings = swim(400, 2000, generator)
    torch.manual_seed(3)
    net = PulseNet(48, args.horizon)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-4)
    report = Report(net)
    steps_of_window = torch.arange(args.window + args.horizon)
    began = time.time()
    for step in range(1, args.steps + 1):
        animal = torch.randint(len(recordings), (args.batch,), generator=generator)
        start = torch.randint(recordings.shape[2] - len(steps_of_window), (args.batch,), generator=generator)
        piece = recordings[animal[:, None], :, start[:, None] + steps_of_window].transpose(1, 2)
        windows, target = piece[:, :, : args.window], piece[:, 0, args.window :]
        loss = nn.functional.mse_loss(net(windows), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            line = report.take(windows)
            if step % 50 == 0:
                print(f"{step:6d} mse {loss.item():.5f} [{line}] {time.time() - began:.1f}s", flush=True)


if __name__ == "__main__":
    main()
