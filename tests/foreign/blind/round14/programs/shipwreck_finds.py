# python: loops
# expected: garbage-collection [also accepted: hot-line]
# verdict: slow
# seconds: 25
# where: gc.collect()
# Why: a full collection after every step looks through the million objects of the catalogue, which takes many times as long as
# the step.
"""To which wreck does a find belong: a catalogue of finds with words, place and depth, and a small model of bags of words."""
import dataclasses
import gc
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

FINDS, WRECKS, WORDS, BATCH = 220_000, 60, 5000, 128


@dataclasses.dataclass
class Find:
    words: list
    place: list
    wreck: int


def read_catalogue(seed=31):
    random = np.random.default_rng(seed)
    wrecks = random.integers(0, WRECKS, FINDS)
    words = random.integers(0, WORDS, (FINDS, 8))
    typical = random.random((FINDS, 8)) < 0.35
    words = np.where(typical, wrecks[:, None] * 70 + random.integers(0, 70, (FINDS, 8)), words)
    centres = random.normal(size=(WRECKS, 3))
    places = (centres[wrecks] + random.normal(0, 0.9, (FINDS, 3))).round(2)
    return [Find(*each) for each in zip(words.tolist(), places.tolist(), wrecks.tolist())]


class WreckModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.words = nn.EmbeddingBag(WORDS, width, mode="mean")
        self.place = nn.Linear(3, width)
        self.head = nn.Sequential(nn.LayerNorm(2 * width), nn.Linear(2 * width, 96), nn.ReLU(), nn.Linear(96, WRECKS))

    def forward(self, words, places):
        return self.head(torch.cat([self.words(words), torch.tanh(self.place(places))], 1))


def batch_of(finds):
    return (torch.tensor([find.words for find in finds]), torch.tensor([find.place for find in finds]),
            torch.tensor([find.wreck for find in finds]))


def main():
    torch.manual_seed(31)
    began = time.perf_counter()
    catalogue = read_catalogue()
    print(f"{len(catalogue)} finds read in {time.perf_counter() - began:.1f} s", flush=True)
    model = WreckModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    random = np.random.default_rng(1)
    mean_loss, step = None, 0
    for epoch in range(1000):
        order = random.permutation(len(catalogue))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            words, places, wrecks = batch_of([catalogue[index] for index in order[start:start + BATCH]])
            loss = F.cross_entropy(model(words, places), wrecks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            mean_loss = loss.item() if mean_loss is None else 0.95 * mean_loss + 0.05 * loss.item()
            del words, places, wrecks, loss
            gc.collect()
            if step % 5 == 0:
                print(f"epoch {epoch} step {step} loss {mean_loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
