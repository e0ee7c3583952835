# python: torch
# expected: healthy
# verdict: healthy
# how: attach
# seconds: 35
# Why: pen strokes of very different length make the steps differ by a factor of ten; all of it is the recurrent network.
import time

import numpy as np
import torch
from torch import nn

WRITERS, BATCH = 20, 32


class StrokeNet(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.rnn = nn.LSTM(3, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, WRITERS)

    def forward(self, strokes):
        states, _ = self.rnn(strokes)
        return self.head(states.mean(dim=1))


def make_pages(n=1500):
    rng = np.random.default_rng(21)
    pages = []
    for _ in range(n):
        writer = int(rng.integers(WRITERS))
        points = int(np.clip(rng.lognormal(4.0, 0.9), 12, 400))
        angle = np.cumsum(rng.normal(0, 0.1 + 0.02 * writer, points))
        pen = (rng.random(points) < 0.1).astype("float32")
        pages.append((np.stack([np.cos(angle), np.sin(angle), pen], axis=1).astype("float32"), writer))
    pages.sort(key=lambda page: len(page[0]))
    return pages


def batches(pages, rng):
    groups = [pages[i:i + BATCH] for i in range(0, len(pages), BATCH)]
    for g in rng.permutation(len(groups)):
        group = groups[g]
        longest = max(len(p) for p, _ in group)
        block = np.zeros((len(group), longest, 3), "float32")
        for row, (points, _) in enumerate(group):
            block[row, :len(points)] = points
        yield torch.from_numpy(block), torch.tensor([w for _, w in group])


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(3)
    pages = make_pages()
    model = StrokeNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    started, step = time.time(), 0
    for epoch in range(1, 201):
        for strokes, writer in batches(pages, rng):
            loss = nn.functional.cross_entropy(model(strokes), writer)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            step += 1
            if step % 5 == 0:
                print(f"epoch {epoch}  step {step}  points {strokes.shape[1]}  loss {loss.item():.3f}  "
                      f"{time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
