"""What the training peers share: the models' sizes, their data, and how train_bench talks to them.

A peer trains without end and calls `Stopwatch.step(images)` after each step. That is where it
waits for orders, so that neither starting a framework nor stopping it is ever measured:

    -> {"ready": true, "name": ..., "version": ..., "model": ..., "threads": ..., "batch": ...}
    <- run 2.5
    -> {"images": 12800, "seconds": 2.503, "cpu_s": 4.91}
    <- (end of input: the peer ends)
"""

import argparse
import json
import os
import sys
import time
from dataclasses import dataclass

import numpy as np

WARM_SECONDS = 2  # and an epoch: a last batch of another size may be compiled anew


@dataclass(frozen=True)
class Task:
    shape: tuple    # of one sample, channels last
    classes: int
    samples: int
    batch: int


TASKS = {
    "dense": Task((784,), 10, 10_000, 32),
    "conv": Task((64, 64, 3), 10, 1_024, 16),
    "vgg16": Task((224, 224, 3), 1_000, 32, 8),
}


def data_of(task):
    """(x, y): float32 in [0, 1), int64 classes; the same for every peer."""
    random = np.random.default_rng(1)
    x = random.random((task.samples, *task.shape), dtype=np.float32)
    return x, random.integers(task.classes, size=task.samples)


class Stopwatch:
    def __init__(self, about, epoch):
        self.about = about
        self.at_least = epoch
        self.begin(WARM_SECONDS)

    def begin(self, seconds):
        self.images = 0
        self.cpu = time.process_time()
        self.start = time.perf_counter()
        self.until = self.start + seconds

    def step(self, images):
        self.images += images
        now = time.perf_counter()
        if now < self.until or self.images < self.at_least:
            return
        if self.about:
            answer, self.about, self.at_least = {"ready": True, **self.about}, None, 0
        else:
            answer = {"images": self.images, "seconds": now - self.start,
                      "cpu_s": time.process_time() - self.cpu}
        self.begin(wait_for_order(answer))


def wait_for_order(answer):
    """Sends `answer`; the seconds of the next run."""
    print(json.dumps(answer), flush=True)
    words = sys.stdin.readline().split()
    if not words:
        os._exit(0)  # a framework takes seconds to stop, and there is nothing to save
    if len(words) != 2 or words[0] != "run":
        sys.exit(f"not understood: {' '.join(words)}; say: run SECONDS")
    return float(words[1])


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True, choices=TASKS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, help="instead of the model's own")
    parsed = parser.parse_args()
    parsed.batch = parsed.batch or TASKS[parsed.model].batch
    return parsed


def stopwatch(name, version, args):
    return Stopwatch({"name": name, "version": version, "model": args.model,
                      "threads": args.threads, "batch": args.batch}, TASKS[args.model].samples)
