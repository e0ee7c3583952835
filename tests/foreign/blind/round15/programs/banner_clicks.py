# python: torch
# expected: step-time-grows
# verdict: slow
# seconds: 25
# where: auc(torch.cat(scores), torch.cat(labels))
# Why: every step ranks all scores since the start again to report the AUC, so each step takes longer than the one before.
"""Click prediction from eight categorical fields."""
import time

import torch
from torch import nn

FIELDS, VALUES, BATCH = 8, 2000, 512


class Clicks:
    """A stream of impressions with hidden tastes."""

    def __init__(self, seed):
        self.random = torch.Generator().manual_seed(seed)
        self.taste = torch.randn(FIELDS, VALUES, generator=self.random) * 0.6

    def draw(self, count):
        u = torch.rand(count, FIELDS, generator=self.random)
        ids = (u * u * VALUES).long()
        logit = self.taste[torch.arange(FIELDS), ids].sum(1) - 1.5
        clicked = (torch.rand(count, generator=self.random) < torch.sigmoid(logit)).float()
        return ids + torch.arange(FIELDS) * VALUES, clicked


class Ranker(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed = nn.Embedding(FIELDS * VALUES, width)
        nn.init.normal_(self.embed.weight, std=0.05)
        self.wide = nn.Embedding(FIELDS * VALUES, 1)
        nn.init.zeros_(self.wide.weight)
        self.deep = nn.Sequential(nn.Linear(FIELDS * width, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, ids):
        return (self.wide(ids).sum(1) + self.deep(self.embed(ids).flatten(1))).squeeze(1)


def auc(score, label):
    ranks = torch.empty(len(score), dtype=torch.double)
    ranks[score.argsort()] = torch.arange(1, len(score) + 1, dtype=torch.double)
    positive = label.double().sum()
    negative = len(label) - positive
    return ((ranks[label > 0].sum() - positive * (positive + 1) / 2) / (positive * negative)).item()


def main():
    torch.manual_seed(3)
    stream = Clicks(7)
    model = Ranker()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.03)
    loss_of = nn.BCEWithLogitsLoss()
    scores, labels = [], []
    best, last = 0.0, time.time()
    print(f"{sum(p.numel() for p in model.parameters())} weights, batches of {BATCH}", flush=True)
    for step in range(1, 60_001):
        ids, clicked = stream.draw(BATCH)
        out = model(ids)
        loss = loss_of(out, clicked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scores.append(out.detach())
        labels.append(clicked)
        area = auc(torch.cat(scores), torch.cat(labels))
        if area > best:
            best = area
        if step % 25 == 0:
            now = time.time()
            print(f"step {step} loss {loss.item():.4f} auc {area:.4f} best {best:.4f} {25 / (now - last):.1f} steps/s", flush=True)
            last = now


if __name__ == "__main__":
    main()
