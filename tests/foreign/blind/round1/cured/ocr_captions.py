# python: torch
# expected: hot-line [also accepted: slow-callback]
# verdict: slow
# seconds: 35
# where: edit_distance( / cost = / row.append / error_rate(
# Why: the character error rate of the whole batch is worked out after every step by a pure Python edit distance, longer than the step itself; it was meant for the evaluation.
import time

import numpy as np
import torch
from torch import nn

ALPHABET = "abcdefghijklmnopqrstuvwxyz ,.-"
LENGTH, HEIGHT, BATCH = 64, 16, 32


def glyphs(rng):
    return rng.normal(0, 1, (len(ALPHABET), HEIGHT, 4)).astype("float32")


def render(rng, font, n):
    text = rng.integers(0, len(ALPHABET), (n, LENGTH))
    strips = font[text].transpose(0, 2, 1, 3).reshape(n, HEIGHT, LENGTH * 4)
    strips = strips + rng.normal(0, 2.5, strips.shape).astype("float32")
    return torch.from_numpy(strips.astype("float32")), torch.from_numpy(text)


def edit_distance(left, right):
    previous = list(range(len(right) + 1))
    for i, a in enumerate(left, start=1):
        row = [i]
        for j, b in enumerate(right, start=1):
            cost = 0 if a == b else 1
            row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + cost))
        previous = row
    return previous[-1]


def error_rate(logits, text):
    guess = logits.argmax(dim=1).tolist()
    wrong = sum(edit_distance(g, t) for g, t in zip(guess, text.tolist()))
    return wrong / text.numel()


class Reader(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(HEIGHT, width, 4, stride=4), nn.ReLU(),
            nn.Conv1d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv1d(width, len(ALPHABET), 1))

    def forward(self, strips):
        return self.body(strips)


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(12)
    strips, text = render(rng, glyphs(rng), 3000)
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    started, rates = time.time(), []
    for step in range(1, 20001):
        pick = torch.randint(0, len(strips), (BATCH,))
        logits = model(strips[pick])
        loss = nn.functional.cross_entropy(logits, text[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            rates.append(error_rate(logits.detach(), text[pick]))
        if step % 20 == 0:
            print(f"step {step}  loss {loss.item():.3f}  CER {np.mean(rates[-20:]):.3f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
