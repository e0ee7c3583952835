# python: torch
# expected: host-memory-leak [also accepted: step-time-grows]
# verdict: healthy|slow
# seconds: 35
# how: attach
# where: self.kept.append / meter.update
# Why: The meter for the end of the epoch keeps the scores together with the hidden layer and their graph instead of numbers; with a very long epoch the memory grows with each step.
import torch
from torch import nn

FIELDS, CARD, DIM = 12, 8000, 16


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(CARD, DIM) for _ in range(FIELDS))
        self.dense = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, DIM))
        self.top = nn.Sequential(nn.Linear(DIM * (FIELDS + 1), 64), nn.ReLU())
        self.out = nn.Linear(64, 1)

    def forward(self, ids, numbers):
        parts = [table(ids[:, i]) for i, table in enumerate(self.tables)]
        parts.append(self.dense(numbers))
        hidden = self.top(torch.cat(parts, dim=1))
        return self.out(hidden).squeeze(1), hidden


class EpochMeter:
    """Calibration and hidden statistics, computed when the epoch is over."""

    def __init__(self):
        self.kept = []

    def update(self, scores, hidden, clicks):
        self.kept.append((torch.sigmoid(scores), hidden, clicks))

    def compute(self):
        scores = torch.cat([s for s, _, _ in self.kept])
        clicks = torch.cat([c for _, _, c in self.kept])
        return (scores.mean() / clicks.mean()).item()


def impressions(batch):
    weights = torch.linspace(-1, 1, CARD)
    while True:
        ids = torch.randint(0, CARD, (batch, FIELDS))
        numbers = torch.randn(batch, 8)
        score = weights[ids].sum(1) + numbers[:, 0] - 1.5
        yield ids, numbers, (torch.rand(batch) < torch.sigmoid(score)).float()


def main():
    torch.manual_seed(4)
    model = Ranker()
    optimizer = torch.optim.Adagrad(model.parameters(), 0.02)
    criterion = nn.BCEWithLogitsLoss()
    meter = EpochMeter()
    steps_per_epoch = 200000
    for step, (ids, numbers, clicks) in enumerate(impressions(64)):
        scores, hidden = model(ids, numbers)
        loss = criterion(scores, clicks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.update(scores, hidden, clicks)
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
        if step and step % steps_per_epoch == 0:
            print(f"calibration {meter.compute():.3f}", flush=True)
            meter = EpochMeter()


main()
