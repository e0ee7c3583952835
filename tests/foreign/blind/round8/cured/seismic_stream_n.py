# python: plain
# expected: waits-for-pipe
# verdict: stuck
# seconds: 30
# where: self.process.stdout.read
# how: attach
# Why: the simulator's log goes to a pipe that nobody reads; when the 64 kB are full it stops in the middle of a line, and the
# training waits for the next block of traces for ever.
import argparse
import logging
import os
import subprocess
import sys

import numpy as np

TRACES, SAMPLES = 64, 256
BLOCK = TRACES * (SAMPLES + 1) * 4


def simulate(seed):
    logging.basicConfig(stream=sys.stderr, level=logging.DEBUG, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    log = logging.getLogger("shaker.simulator")
    rng = np.random.default_rng(seed)
    t = np.arange(SAMPLES) / SAMPLES
    number = 0
    while True:
        number += 1
        arrival = rng.uniform(0.1, 0.9, (TRACES, 1))
        wave = (t > arrival) * np.exp(-12 * (t - arrival)) * np.sin(90 * (t - arrival))
        wave = wave * rng.uniform(0.5, 2.0, (TRACES, 1)) + rng.normal(0, 0.05, (TRACES, SAMPLES))
        block = np.concatenate([arrival, wave], axis=1).astype(np.float32)
        if number % 4 == 0:
            log.debug("block %d: %d traces, arrivals between %.3f and %.3f, peak %.2f", number, TRACES,
                      arrival.min(), arrival.max(), np.abs(wave).max())
        sys.stdout.buffer.write(block.tobytes())
        sys.stdout.buffer.flush()


class TraceSource:
    def __init__(self, seed):
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--simulate", str(seed)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def next_block(self):
        raw = self.process.stdout.read(BLOCK)
        block = np.frombuffer(raw, dtype=np.float32).reshape(TRACES, SAMPLES + 1)
        return block[:, 1:], block[:, :1]


def onset_ratio(x, short=8, long=64):
    """Short-term over long-term mean energy of each trace."""
    energy = np.cumsum(np.pad(x.astype(np.float64) ** 2, ((0, 0), (long, 0))), axis=1)
    quick = (energy[:, long:] - energy[:, long - short:-short]) / short
    slow = (energy[:, long:] - energy[:, :-long]) / long
    return np.log1p(quick / (slow + 1e-3)).astype(np.float32)


class Picker:
    """Arrival time of the first wave, one hidden layer."""

    def __init__(self, hidden=16):
        rng = np.random.default_rng(1)
        self.w1 = rng.normal(0, (2 / SAMPLES) ** 0.5, (SAMPLES, hidden)).astype(np.float32)
        self.w2 = rng.normal(0, (1 / hidden) ** 0.5, (hidden, 1)).astype(np.float32)

    def fit(self, x, y, rate):
        h = np.maximum(x @ self.w1, 0)
        error = h @ self.w2 - y
        slope = (error * self.w2.T) * (h > 0)
        self.w2 -= rate * h.T @ error / len(x)
        self.w1 -= rate * x.T @ slope / len(x)
        return float(np.mean(error ** 2))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulate", type=int, default=None)
    options = parser.parse_args()
    if options.simulate is not None:
        simulate(options.simulate)
    source, picker = TraceSource(17), Picker()
    step = 0
    while True:
        x, y = source.next_block()
        loss = picker.fit(onset_ratio(x), y, rate=0.02)
        step += 1
        if step % 100 == 0:
            print("step", step, "mse %.5f" % loss, flush=True)
