# python: torch
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: a dozen background threads read ahead, stand idle most of the time at a full queue, and look like trouble in every thread list; the convolutions take all the time.
import glob
import os
import queue
import tempfile
import threading
import time

import numpy as np
import torch
from torch import nn

SIDE, PAST, BATCH = 48, 4, 16


def write_scans(folder, n=64):
    rng = np.random.default_rng(31)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    for i in range(n):
        x0, y0, vx, vy = rng.uniform(5, 43, 2).tolist() + rng.uniform(-3, 3, 2).tolist()
        frames = [np.exp(-((xx - x0 - vx * t) ** 2 + (yy - y0 - vy * t) ** 2) / 40) for t in range(PAST + 1)]
        scan = np.stack(frames)[None].repeat(BATCH, axis=0) + rng.normal(0, 0.05, (BATCH, PAST + 1, SIDE, SIDE))
        np.save(os.path.join(folder, f"scan_{i:03d}.npy"), scan.astype("float32"))


class ReadAhead:
    def __init__(self, folder, readers=12, depth=24):
        self.paths = sorted(glob.glob(os.path.join(folder, "scan_*.npy")))
        self.ready = queue.Queue(maxsize=depth)
        for seed in range(readers):
            threading.Thread(target=self.read, args=(seed,), name=f"reader-{seed}", daemon=True).start()

    def read(self, seed):
        rng = np.random.default_rng(seed)
        while True:
            scan = np.load(self.paths[rng.integers(len(self.paths))])
            self.ready.put((torch.from_numpy(scan[:, :PAST]), torch.from_numpy(scan[:, PAST:])))

    def __iter__(self):
        while True:
            yield self.ready.get()


def main():
    torch.manual_seed(0)
    folder = tempfile.mkdtemp(prefix="radar_")
    write_scans(folder)
    model = nn.Sequential(nn.Conv2d(PAST, 48, 5, padding=2), nn.ReLU(), nn.Conv2d(48, 48, 5, padding=2), nn.ReLU(),
                          nn.Conv2d(48, 48, 5, padding=2), nn.ReLU(), nn.Conv2d(48, 1, 5, padding=2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    started = time.time()
    for step, (past, coming) in enumerate(ReadAhead(folder), start=1):
        loss = nn.functional.mse_loss(model(past), coming)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step}  loss {loss.item():.5f}  {time.time() - started:.1f} s", flush=True)
        if step == 3000:
            break


if __name__ == "__main__":
    main()
