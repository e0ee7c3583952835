# python: torch
# expected: dataloader-workers [also accepted: input-bound]
# verdict: slow
# seconds: 30
# where: num_workers=
# Why: eight workers are started anew for every epoch of a small table that is already in memory; starting them and carrying the
# rows over costs far more than the training.
"""Soil moisture from weather and soil type: a small network on a table of measurements."""
import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def measurements(count, seed):
    torch.manual_seed(seed)
    weather = torch.randn(count, 24)
    soil = torch.nn.functional.one_hot(torch.randint(0, 8, (count,)), 8).float()
    x = torch.cat([weather, soil], dim=1)
    moisture = torch.tanh(weather[:, :4].sum(1) * 0.5) + 0.3 * soil @ torch.linspace(-1, 1, 8)
    return TensorDataset(x, (moisture + 0.1 * torch.randn(count)).unsqueeze(1))


class MoistureNet(nn.Module):
    def __init__(self, inputs=32, width=96):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.layers(x)


def run_epoch(model, loader, optimizer, criterion):
    model.train()
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20000)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()

    data = measurements(4096, seed=0)
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True, num_workers=8, drop_last=True)
    model = MoistureNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.MSELoss()
    began = time.time()
    for epoch in range(1, args.epochs + 1):
        loss = run_epoch(model, loader, optimizer, criterion)
        if epoch % 5 == 0:
            print(f"epoch {epoch:5d}  loss {loss:.4f}  {time.time() - began:7.1f} s")


if __name__ == "__main__":
    main()
