# python: torch
# expected: step-time-grows [also accepted: host-memory-leak, hot-line]
# verdict: slow
# seconds: 40
# where: torch.cat / @ self.keys
# Why: The bank of negatives gets every batch added and never drops old ones, so each step compares with more keys than the one before. The line that cuts the queue was forgotten.
import torch
import torch.nn.functional as F
from torch import nn

DIM = 64


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(128, 256), nn.BatchNorm1d(256), nn.ReLU(),
            nn.Linear(256, 256), nn.BatchNorm1d(256), nn.ReLU(),
            nn.Linear(256, DIM),
        )

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


class NegativeBank:
    def __init__(self, start=2048):
        self.keys = F.normalize(torch.randn(DIM, start), dim=0)

    def add(self, keys):
        self.keys = torch.cat([self.keys, keys.detach().t()], dim=1)

    def logits(self, queries, positives, temperature=0.1):
        near = (queries * positives).sum(1, keepdim=True)
        far = queries @ self.keys
        return torch.cat([near, far], dim=1) / temperature


class Signals:
    """Pairs of noisy views of latent signals."""

    def __init__(self, count=20000):
        self.latent = torch.randn(count, 24)
        self.mix = torch.randn(24, 128) / 5

    def batch(self, size):
        z = self.latent[torch.randint(0, len(self.latent), (size,))]
        views = []
        for _ in range(2):
            views.append(torch.tanh(z @ self.mix) + 0.2 * torch.randn(size, 128))
        return views


def main():
    torch.manual_seed(2)
    data, bank = Signals(), NegativeBank()
    query_net, key_net = Encoder(), Encoder()
    key_net.load_state_dict(query_net.state_dict())
    optimizer = torch.optim.SGD(query_net.parameters(), 0.05, momentum=0.9)
    zeros = torch.zeros(256, dtype=torch.long)
    for step in range(1000000):
        a, b = data.batch(256)
        with torch.no_grad():
            keys = key_net(b)
        loss = F.cross_entropy(bank.logits(query_net(a), keys), zeros)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for k, q in zip(key_net.parameters(), query_net.parameters()):
                k.mul_(0.99).add_(q, alpha=0.01)
        bank.add(keys)
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


main()
