# python: torch
# The same program without its fault.
"""Rate how long a perfume stays on the skin from the shares of 60 ingredients."""
import time
import warnings

import torch
from torch import nn

warnings.simplefilter("once")


def blend(count, seed):
    g = torch.Generator().manual_seed(seed)
    laws = torch.Generator().manual_seed(77)
    shares = torch.rand(count, 60, generator=g) ** 4
    shares = shares / shares.sum(1, keepdim=True)
    volatility = torch.rand(60, generator=laws) * 2
    fix = torch.randn(60, 6, generator=laws)
    stay = -(shares @ volatility) * 3 + torch.tanh(shares @ fix * 4).prod(1) * 6 + (shares @ fix[:, :3]).relu().sum(1)
    stay = stay + 0.05 * torch.randn(count, generator=g)
    return shares, stay


class Perfumer:
    def __init__(self, lr=1e-3):
        self.net = nn.Sequential(
            nn.Linear(60, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(),
            nn.Linear(512, 1),
        )
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.criterion = nn.MSELoss()
        self.step = 0
        self.began = time.time()

    def train_epoch(self, shares, ratings, batch):
        total, batches = 0.0, torch.randperm(len(shares)).split(batch)
        for rows in batches:
            x, y = shares[rows], ratings[rows]
            loss = self.criterion(self.net(x).squeeze(1), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1
            total += loss.item()
            if self.step % 50 == 0:
                print(f"step {self.step} loss {loss.item():.4f} ({time.time() - self.began:.1f} s)", flush=True)
        return total / len(batches)

    @torch.no_grad()
    def explained(self, x, y):
        guess = self.net(x).flatten()
        return 1 - ((guess - y) ** 2).mean().item() / y.var().item()


def main():
    torch.manual_seed(0)
    shares, stay = blend(40000, 1)
    test_shares, test_stay = blend(2000, 2)
    shares_mean, shares_std = shares.mean(0), shares.std(0)
    mean, std = stay.mean(), stay.std()
    train_x, train_y = (shares - shares_mean) / shares_std, (stay - mean) / std
    test_x, test_y = (test_shares - shares_mean) / shares_std, (test_stay - mean) / std
    perfumer = Perfumer()
    for epoch in range(1, 301):
        loss = perfumer.train_epoch(train_x, train_y, 250)
        print(f"epoch {epoch}: train mse {loss:.4f}, test R2 {perfumer.explained(test_x, test_y):.3f}", flush=True)


if __name__ == "__main__":
    main()
