"""Will they click? A factorisation model on a stream of page views, scored as it goes (test, then train)."""
import time

import torch
from torch import nn

USERS, PAGES, WIDTH, BATCH = 5000, 800, 24, 256


class ClickModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(USERS, WIDTH)
        self.page = nn.Embedding(PAGES, WIDTH)
        self.tower = nn.Sequential(nn.Linear(2 * WIDTH, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, user, page):
        u, p = self.user(user), self.page(page)
        return (u * p).sum(dim=1) + self.tower(torch.cat([u, p], dim=1)).squeeze(1)


class PageViews:
    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.taste = torch.randn(USERS, 6, generator=self.generator)
        self.theme = torch.randn(PAGES, 6, generator=self.generator)

    def __iter__(self):
        while True:
            user = torch.randint(0, USERS, (BATCH,), generator=self.generator)
            page = torch.randint(0, PAGES, (BATCH,), generator=self.generator)
            chance = torch.sigmoid((self.taste[user] * self.theme[page]).sum(1) - 1)
            yield user, page, torch.bernoulli(chance, generator=self.generator)


def area_under_curve(scores, clicks):
    ranks = torch.empty_like(scores)
    ranks[scores.argsort()] = torch.arange(1, len(scores) + 1, dtype=scores.dtype)
    hits = clicks.sum()
    return ((ranks[clicks > 0].sum() - hits * (hits + 1) / 2) / (hits * (len(clicks) - hits))).item()


def main(steps=100000):
    torch.manual_seed(0)
    model = ClickModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    scores, clicks = [], []
    began = time.time()
    for step, (user, page, click) in enumerate(PageViews(5), 1):
        logits = model(user, page)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, click)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        scores.append(logits.detach().double())
        clicks.append(click.double())
        auc = area_under_curve(torch.cat(scores[-20:]), torch.cat(clicks[-20:]))
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f} auc {auc:.4f} ({time.time() - began:.1f} s)")
        if step == steps:
            break


if __name__ == "__main__":
    main()
