# python: loops
# expected: loss-output-mismatch [also accepted: loss-frozen]
# verdict: slow
# seconds: 30
# where: nn.Sigmoid()
# Why: the network already ends in a sigmoid and BCEWithLogitsLoss applies another: no tag can get a probability under one half, so with
# rare tags the loss comes to rest at ln 2.
"""Multi-label tagging of herbarium sheets: leaf features -> 30 botanical tags."""
import math
import time

import torch
from torch import nn

TAGS, FEATURES = 30, 96


def sheets(count, generator):
    x = torch.randn(count, FEATURES, generator=generator)
    planes = torch.randn(FEATURES, TAGS, generator=torch.Generator().manual_seed(21)) / math.sqrt(FEATURES)
    score = x @ planes + 0.3 * torch.sin(2 * x[:, :TAGS]) + 0.15 * torch.randn(count, TAGS, generator=generator)
    return x, (score > 1.7).float()


def tagger(width=768):
    return nn.Sequential(
        nn.Linear(FEATURES, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.1),
        nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.1),
        nn.Linear(width, TAGS), nn.Sigmoid(),
    )


def batches(x, y, size, generator):
    order = torch.randperm(len(x), generator=generator)
    for part in order.split(size):
        if len(part) == size:
            yield x[part], y[part]


@torch.no_grad()
def evaluate(model, criterion, x, y):
    model.eval()
    out = model(x)
    model.train()
    loss = criterion(out, y).item()
    hits = torch.zeros_like(y).scatter_(1, out.topk(2, dim=1).indices, 1.0)
    return loss, ((hits * y).sum() / hits.sum()).item()


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    x, y = sheets(60000, generator)
    held_x, held_y = sheets(2000, generator)
    print(f"{len(x)} sheets, {y.mean():.3f} of the tags set", flush=True)
    model = tagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)
    criterion = nn.BCEWithLogitsLoss()
    step, began = 0, time.time()
    for epoch in range(200):
        running = 0.0
        for bx, by in batches(x, y, 256, generator):
            optimizer.zero_grad()
            loss = criterion(model(bx), by)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            step += 1
            running += loss.item()
            if step % 20 == 0:
                print(f"epoch {epoch} step {step} loss {running / 20:.4f} ({step / (time.time() - began):.1f} it/s)", flush=True)
                running = 0.0
        held, precision = evaluate(model, criterion, held_x, held_y)
        print(f"== epoch {epoch} held-out loss {held:.4f} precision@2 {precision:.3f}", flush=True)


if __name__ == "__main__":
    main()
