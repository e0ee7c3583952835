# python: torch
# truth: turn=waits for lock, step=computes, batch=makes data, sweep=collects garbage
# Why: a second thread packs the weights while it holds the lock that the loop needs; automatic collection is off and done by hand.
import gc
import threading
import time
import zlib

import numpy as np
import torch
from torch import nn

from stopwatch import part, started


class Archive:
    """Packs what the weights were, away from the loop; whoever changes the weights must be alone with them."""

    def __init__(self, model):
        self.model, self.alone, self.packed = model, threading.Lock(), b""
        threading.Thread(target=self.keep, daemon=True).start()

    def keep(self):
        while True:
            time.sleep(0.11)
            with self.alone:
                raw = self.model[0].weight.detach().numpy().tobytes()
                self.packed = zlib.compress(raw, 6)


class Yarn:
    """One yarn of the loom: it knows the yarn on either side."""

    def __init__(self, colour):
        self.colour, self.left, self.right = colour, None, None


def warp(colours):
    yarns = [Yarn(colour) for colour in colours]
    for left, right in zip(yarns, yarns[1:]):
        left.right, right.left = right, left
    return yarns


def weave(rng, count, width):
    cloths = np.empty((count, 1, width, width), np.float32)
    for i in range(count):
        yarns = warp(rng.integers(0, 5, width).tolist())
        row = [yarn.colour + (yarn.left.colour if yarn.left else 0) for yarn in yarns]
        for k in range(width):
            row = row[1:] + row[:1] if k % 3 else row[::-1]
            cloths[i, 0, k] = row
    return torch.from_numpy(cloths), torch.from_numpy(cloths[:, 0, 0, :4].sum(axis=1) % 4).long()


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    gc.disable()
    rng = np.random.default_rng(1)
    sampler = [warp(range(50)) for _ in range(2_500)]
    model = nn.Sequential(
        nn.Conv2d(1, 16, 5), nn.ReLU(), nn.MaxPool2d(4), nn.Conv2d(16, 16, 3), nn.ReLU(),
        nn.Flatten(), nn.LazyLinear(64), nn.ReLU(), nn.Linear(64, 4))
    model(torch.zeros(1, 1, 48, 48))
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
    archive = Archive(nn.Sequential(nn.Linear(400, 600)))
    started()
    for step in range(100_000):
        with part("batch"):
            cloths, kinds = weave(rng, 96, 48)
        with part("turn"):
            archive.alone.acquire()
        with part("step"):
            loss = nn.functional.cross_entropy(model(cloths), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            value = loss.item()
        archive.alone.release()
        if step % 8 == 7:
            with part("sweep"):
                gc.collect()
            print(f"step {step} loss {value:.4f} packed {len(archive.packed)} of {len(sampler)}", flush=True)


if __name__ == "__main__":
    main()
