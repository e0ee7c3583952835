import argparse

import torch
from torch import nn


def settings():
    parser = argparse.ArgumentParser()
    parser.add_argument("--experts", type=int, default=4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--steps", type=int, default=100000)
    return parser.parse_args()


class Expert(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(64, width), nn.LayerNorm(width), nn.GELU(),
            nn.Linear(width, width), nn.LayerNorm(width), nn.GELU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.layers(x)


class Mixture(nn.Module):
    def __init__(self, experts, width):
        super().__init__()
        self.experts = nn.ModuleList(Expert(width) for _ in range(experts))
        self.gate = nn.Linear(64, experts)

    def forward(self, x):
        weights = torch.softmax(self.gate(x), dim=1)
        outputs = torch.cat([e(x) for e in self.experts], dim=1)
        return (weights * outputs).sum(1)


def make_table(rows=50000):
    g = torch.Generator().manual_seed(3)
    x = torch.randn(rows, 64, generator=g)
    y = torch.sin(x[:, 0] * 2) + x[:, 1] * x[:, 2] + (x[:, 3] > 0) * x[:, 4]
    return x, y + 0.1 * torch.randn(rows, generator=g)


def main():
    args = settings()
    torch.manual_seed(0)
    x, y = make_table()
    model = Mixture(args.experts, args.width)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for step in range(args.steps):
        rows = torch.randint(0, len(x), (args.batch_size,))
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
