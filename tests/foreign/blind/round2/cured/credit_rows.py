# python: torch
# expected: batch-too-small
# verdict: slow
# seconds: 30
# where: batch_size=1
# Why: rows are fed one at a time, so every step is overhead; left over from debugging a shape error.
import math
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
rng = np.random.default_rng(6)


def make_rows(n=80000, d=32):
    x = rng.normal(size=(n, d)).astype(np.float32)
    score = np.sin(x[:, 0] * 2) + x[:, 1] * x[:, 2] - 0.5 * x[:, 3] + 0.3 * rng.normal(size=n)
    return torch.from_numpy(x), torch.from_numpy(score.astype(np.float32))


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, x):
        return x + self.net(x)


class Scorer(nn.Module):
    def __init__(self, d, width=64, depth=3):
        super().__init__()
        self.inp = nn.Linear(d, width)
        self.blocks = nn.Sequential(*[Residual(width) for _ in range(depth)])
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.blocks(self.inp(x)))[:, 0]


def main():
    x, y = make_rows()
    train = TensorDataset(x[:72000], y[:72000])
    loader = DataLoader(train, batch_size=256, shuffle=True)
    model = Scorer(x.shape[1])
    opt = torch.optim.Adam(model.parameters(), lr=3e-4)
    seen, running, shown = 0, 0.0, 0
    for epoch in range(400):
        for xb, yb in loader:
            loss = ((model(xb) - yb) ** 2).mean()
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            seen += len(xb)
            running += loss.item() * len(xb)
            if seen - shown >= 500:
                rmse = math.sqrt(running / (seen - shown))
                print(f"epoch {epoch} rows {seen} rmse {rmse:.4f}", flush=True)
                running, shown = 0.0, seen


if __name__ == "__main__":
    main()
