# python: torch
# truth: step=computes, collect=collects garbage, score=runs own code
# Why: a large heap of small objects is collected by hand, and a distance between words is computed in Python.
import gc
import random

import torch
from torch import nn

from stopwatch import part, started

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def edit_distance(one, other):
    before = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, against in enumerate(other, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != against)))
        before = row
    return before[-1]


def mean_distance(pairs):
    return sum(edit_distance(one, other) for one, other in pairs) / len(pairs)


def main():
    random.seed(4)
    torch.manual_seed(4)
    words = ["".join(random.choices(LETTERS, k=random.randint(4, 12))) for _ in range(2_000)]
    notes = [{"word": random.choice(words), "seen": [index]} for index in range(300_000)]
    model = nn.Sequential(nn.Linear(600, 1200), nn.Tanh(), nn.Linear(1200, 600))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    codes = torch.randn(4_096, 600)
    gc.disable()
    step = 0
    started()
    while True:
        with part("step"):
            batch = codes[(step * 192) % 3_840:][:192]
            loss = ((model(batch) - batch) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
        with part("score"):
            distance = mean_distance([(random.choice(words), random.choice(words)) for _ in range(600)])
        if step % 10 == 0:
            with part("collect"):
                gc.collect()
            print(f"step {step} loss {loss.item():.4f} distance {distance:.2f} notes {len(notes)}", flush=True)


if __name__ == "__main__":
    main()
