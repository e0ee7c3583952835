# python: torch
# expected: vanishing-gradients [also accepted: loss-frozen]
# verdict: slow
# seconds: 25
# where: nn.Sigmoid()
# Why: fourteen sigmoid layers: the gradient shrinks at each of them, the first layers get nothing, and the loss stays at ln 6.
"""Which of six firing defects a glaze will show, from its recipe and kiln curve."""
import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def recipes(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 40, generator=g)
    w = torch.randn(40, 6, generator=g) / 40 ** 0.5
    v = torch.randn(40, 6, generator=g) / 40 ** 0.5
    score = 3 * x @ w + 1.5 * (x.roll(1, 1) * x) @ v
    return TensorDataset(x, score.argmax(1))


class GlazeNet(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        layers = [nn.Linear(40, width), nn.Sigmoid()]
        for _ in range(depth - 1):
            layers += [nn.Linear(width, width), nn.Sigmoid()]
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(width, 6)

    def forward(self, x):
        return self.head(self.body(x))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = total = 0
    for x, y in loader:
        right += (model(x).argmax(1) == y).sum().item()
        total += len(y)
    model.train()
    return right / total


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--width", type=int, default=192)
    p.add_argument("--depth", type=int, default=14)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--epochs", type=int, default=400)
    args = p.parse_args()

    torch.manual_seed(2)
    train_set, test_set = random_split(recipes(24000, 1), [20000, 4000])
    train = DataLoader(train_set, batch_size=250, shuffle=True)
    test = DataLoader(test_set, batch_size=1000)
    model = GlazeNet(args.width, args.depth)
    print(sum(q.numel() for q in model.parameters()), "parameters", flush=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    loss_fn = nn.CrossEntropyLoss()

    for epoch in range(1, args.epochs + 1):
        began, total = time.time(), 0.0
        for i, (x, y) in enumerate(train, 1):
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
            if i % 20 == 0:
                print(f"epoch {epoch:3d} batch {i:3d}/{len(train)} loss {total / i:.4f}", flush=True)
        print(f"epoch {epoch:3d} done, train loss {total / len(train):.4f} "
              f"test accuracy {accuracy(model, test):.3f} ({time.time() - began:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
