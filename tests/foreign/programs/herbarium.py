# python: torch
# expected: per-pixel-python
# verdict: slow
# seconds: 30
# where: getpixel / for x in / for y in / greenness
# Why: an IterableDataset asks PIL for one pixel after another and weighs it in Python; the two workers do nothing else
# and the model waits. One array expression would do.
import argparse
import itertools
import os
import sys
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from PIL import Image
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

SIDE = 128


def press_specimens(where, n):
    os.makedirs(where, exist_ok=True)
    rng = np.random.RandomState(11)
    for i in range(n):
        name = os.path.join(where, "sheet_%04d.png" % i)
        if not os.path.exists(name):
            Image.fromarray(rng.randint(0, 255, (SIDE, SIDE, 3), dtype=np.uint8)).save(name)
    return sorted(os.path.join(where, f) for f in os.listdir(where) if f.endswith(".png"))


class Herbarium(IterableDataset):
    def __init__(self, sheets, classes):
        super().__init__()
        self.sheets, self.classes = sheets, classes

    def leaf_mask(self, sheet):
        w, h = sheet.size
        mask = torch.zeros(1, h, w)
        for y in range(h):
            for x in range(w):
                r, g, b = sheet.getpixel((x, y))
                greenness = 2.0 * g - r - b
                mask[0, y, x] = max(0.0, min(1.0, greenness / 255.0 + 0.5))
        return mask

    def __iter__(self):
        info = get_worker_info()
        mine = self.sheets if info is None else self.sheets[info.id::info.num_workers]
        for k, path in enumerate(mine):
            with Image.open(path) as sheet:
                yield self.leaf_mask(sheet.convert("RGB")), k % self.classes


class LeafNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Conv2d(1, 12, 5, stride=4)
        self.body = nn.Conv2d(12, 24, 3, stride=2)
        self.head = nn.Linear(24, classes)

    def forward(self, x):
        x = F.relu(self.body(F.relu(self.stem(x))))
        return self.head(x.mean((2, 3)))


def main(argv):
    p = argparse.ArgumentParser()
    p.add_argument("-b", type=int, default=4)
    p.add_argument("-j", type=int, default=2)
    p.add_argument("--classes", type=int, default=6)
    o = p.parse_args(argv)
    sheets = press_specimens(os.path.join(tempfile.gettempdir(), "herbarium-sheets"), 240)
    net = LeafNet(o.classes)
    opt = torch.optim.AdamW(net.parameters(), 1e-3)
    for epoch in itertools.count():
        t0 = time.perf_counter()
        for i, (x, y) in enumerate(DataLoader(Herbarium(sheets, o.classes), batch_size=o.b, num_workers=o.j)):
            opt.zero_grad(set_to_none=True)
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            sys.stdout.write("[%d:%03d] loss=%.3f  %.1fs\n" % (epoch, i, loss.item(), time.perf_counter() - t0))
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
