# python: torch
# expected: worker-deadlock
# verdict: stuck
# seconds: 30
# env: OMP_NUM_THREADS=2
# where: encoder(part) / pool.map / self.body(x)
# Why: two epochs of training have started OpenMP's threads in the parent; the executor then forks, and libgomp in the
# children counts on threads that were not copied. Both sleep on a futex in their first convolution, without CPU time,
# and the parent waits for a result of pool.map for ever.
import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class ClickEncoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(1, 16, 9, stride=4), nn.BatchNorm1d(16), nn.ReLU(),
            nn.Conv1d(16, 32, 9, stride=4), nn.BatchNorm1d(32), nn.ReLU(),
            nn.AdaptiveAvgPool1d(8), nn.Flatten(), nn.Linear(256, dim))

    def forward(self, x):
        return F.normalize(self.body(x), dim=1)


encoder = ClickEncoder()


def make_clicks(n, length, whales, seed):
    rng = np.random.default_rng(seed)
    who = rng.integers(0, whales, n)
    t = np.arange(length) / length
    pitch = 20 + 15 * who[:, None] + rng.normal(0, 1, (n, 1))
    wave = np.sin(2 * np.pi * pitch * t) * np.exp(-6 * t) + 0.3 * rng.standard_normal((n, length))
    return wave[:, None].astype(np.float32), who


def embed(clicks):
    encoder.eval()
    with torch.no_grad():
        out = torch.cat([encoder(part) for part in torch.from_numpy(clicks).split(100)])
    return out.numpy()


def pick_triplets(vectors, who, rng):
    """For every click one of the same whale, and the nearest one of another whale."""
    near = vectors @ vectors.T
    near[who[:, None] == who[None, :]] = -2
    negative = near.argmax(1)
    positive = np.array([rng.choice(np.flatnonzero(who == w)) for w in who])
    return positive, negative


def train_epoch(clicks, positive, negative, opt, batch):
    encoder.train()
    total, count = 0.0, 0
    for rows in torch.randperm(len(clicks)).split(batch):
        a, p, n = (encoder(clicks[pick]) for pick in (rows, positive[rows], negative[rows]))
        loss = F.triplet_margin_loss(a, p, n, margin=0.3)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total, count = total + loss.item(), count + 1
        if count % 4 == 0:
            print(f"    {count * batch:5d} clicks seen, triplet loss {total / count:.4f}", flush=True)
    return total / count


def main():
    parser = argparse.ArgumentParser(description="Which whale was it?")
    parser.add_argument("--clicks", type=int, default=400)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--warmup", type=int, default=2, help="epochs with random triplets")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    waves, who = make_clicks(args.clicks, args.length, whales=12, seed=3)
    clicks = torch.from_numpy(waves)
    opt = torch.optim.AdamW(encoder.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        began = time.time()
        if epoch < args.warmup:
            positive, negative = rng.integers(0, args.clicks, (2, args.clicks))
        else:
            with ProcessPoolExecutor(args.jobs) as pool:
                vectors = np.concatenate(list(pool.map(embed, np.array_split(waves, 4 * args.jobs))))
            positive, negative = pick_triplets(vectors, who, rng)
        mean = train_epoch(clicks, torch.as_tensor(positive), torch.as_tensor(negative), opt, args.batch)
        print(f"[{epoch:02d}] {mean:.4f} in {time.time() - began:.1f}s", flush=True)


if __name__ == "__main__":
    main()
