# python: torch
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: some seconds of text and vocabulary before the first step, a learning rate that jumps back up with every restart and takes the
# loss with it, gradients gathered over two small batches, a checkpoint and a held-out pass now and then. The model is the work.
"""A small character transformer on verse drawn from a grammar."""
import math
import os
import random
import tempfile
import time
from collections import Counter

import torch
from torch import nn

CONTEXT, WIDTH, HEADS, LAYERS = 96, 144, 4, 3

NOUNS = "shepherd river mountain harp lamp vine stone morning valley cedar stranger king".split()
VERBS = "praises remembers guards calls lifts seeks crosses answers gathers".split()
WORDS = "quiet ancient bitter golden faithful hidden broken rising".split()


def verse(rnd):
    a, b = rnd.sample(NOUNS, 2)
    line = f"the {rnd.choice(WORDS)} {a} {rnd.choice(VERBS)} the {b}"
    if rnd.random() < 0.5:
        line += f", and the {b} {rnd.choice(VERBS)} the {rnd.choice(WORDS)} {a}"
    return line + ".\n"


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attend = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, mask):
        h = self.n1(x)
        x = x + self.attend(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.n2(x))


class Scribe(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.token = nn.Embedding(vocabulary, WIDTH)
        self.place = nn.Parameter(0.02 * torch.randn(CONTEXT, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, vocabulary)
        self.register_buffer("mask", torch.full((CONTEXT, CONTEXT), float("-inf")).triu(1))

    def forward(self, ids):
        x = self.token(ids) + self.place
        for b in self.blocks:
            x = b(x, self.mask)
        return self.out(self.norm(x))


def windows(data, n):
    at = torch.randint(0, len(data) - CONTEXT - 1, (n,))
    return torch.stack([data[i:i + CONTEXT] for i in at]), torch.stack([data[i + 1:i + 1 + CONTEXT] for i in at])


def loss_of(model, data, n):
    x, y = windows(data, n)
    return nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())


def main():
    rnd = random.Random(6)
    torch.manual_seed(6)
    text = "".join(verse(rnd) for _ in range(60000))
    letters = [c for c, _ in Counter(text).most_common()]
    code = {c: i for i, c in enumerate(letters)}
    data = torch.tensor([code[c] for c in text])
    cut = int(0.95 * len(data))
    print(f"{len(text)} letters, {len(letters)} different", flush=True)
    model = Scribe(len(letters))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    period, floor, peak = 60, 1e-4, 1.5e-3
    where = os.path.join(tempfile.gettempdir(), f"scribe-{os.getpid()}.pt")
    began = time.time()
    for step in range(1, 20001):
        lr = floor + 0.5 * (peak - floor) * (1 + math.cos(math.pi * (step % period) / period))
        for group in optimizer.param_groups:
            group["lr"] = lr
        optimizer.zero_grad()
        total = 0.0
        for _ in range(2):
            loss = loss_of(model, data[:cut], 8) / 2
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 3 == 0:
            print(f"step {step} lr {lr:.2e} loss {total:.4f} {(time.time() - began) / step * 1000:.0f} ms/step", flush=True)
        if step % 60 == 0:
            with torch.no_grad():
                held = sum(loss_of(model, data[cut:], 8).item() for _ in range(4)) / 4
            torch.save({"model": model.state_dict(), "step": step}, where)
            print(f"step {step} held-out loss {held:.4f}, saved", flush=True)


if __name__ == "__main__":
    main()
