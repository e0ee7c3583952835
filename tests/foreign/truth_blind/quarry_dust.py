# python: plain
# truth: step=computes, pack=waits for child, turn=waits for file lock, tally=runs own code
# Why: numpy by hand; the journal is packed by gzip in a child; a ledger is shared with another quarry that keeps it long.
import fcntl
import os
import subprocess
import sys
import tempfile

import numpy as np

from stopwatch import part, started

NEIGHBOUR = """
import fcntl, os, sys, time
parent = os.getppid()
ledger = open(sys.argv[1], "a")
while os.getppid() == parent:
    fcntl.flock(ledger, fcntl.LOCK_EX)
    time.sleep(0.35)
    fcntl.flock(ledger, fcntl.LOCK_UN)
    time.sleep(0.9)
"""


class DustNet:
    def __init__(self, rng, inputs, hidden, outputs):
        self.a = rng.normal(0, 0.05, (inputs, hidden)).astype(np.float32)
        self.b = rng.normal(0, 0.05, (hidden, hidden)).astype(np.float32)
        self.c = rng.normal(0, 0.05, (hidden, outputs)).astype(np.float32)
        self.pace = [np.zeros_like(m) for m in (self.a, self.b, self.c)]

    def learn(self, x, y, rate=1e-3):
        h = np.tanh(x @ self.a)
        g = np.tanh(h @ self.b)
        error = g @ self.c - y
        dg = (error @ self.c.T) * (1 - g * g)
        dh = (dg @ self.b.T) * (1 - h * h)
        for i, (m, slope) in enumerate(((self.a, x.T @ dh), (self.b, h.T @ dg), (self.c, g.T @ error))):
            self.pace[i] = 0.9 * self.pace[i] + slope / len(x)
            m -= rate * self.pace[i]
        return float(np.mean(error ** 2))


def pack(journal):
    with open(journal + ".gz", "wb") as out:
        return subprocess.Popen(["gzip", "-9", "-c", journal], stdout=out).wait()


def worst_days(readings):
    """The days on which the dust rose for the third time in a row, as the inspector wants them."""
    days, rising = {}, 0
    for i in range(1, len(readings)):
        rising = rising + 1 if readings[i] > readings[i - 1] else 0
        if rising >= 3:
            days.setdefault(i // 24, []).append(readings[i])
    return {day: max(values) for day, values in days.items()}


def main():
    rng = np.random.default_rng(40)
    folder = tempfile.mkdtemp()
    journal, ledger_path = os.path.join(folder, "journal.txt"), os.path.join(folder, "ledger.txt")
    with open(journal, "w") as file:
        for row in rng.normal(size=(24_000, 8)):
            file.write(" ".join(f"{value:.4f}" for value in row) + "\n")
    ledger = open(ledger_path, "a")
    subprocess.Popen([sys.executable, "-c", NEIGHBOUR, ledger_path])
    air = rng.normal(size=(40_000, 128)).astype(np.float32)
    dust = np.abs(air[:, :4]).cumsum(axis=1)
    net, readings = DustNet(rng, 128, 640, 4), (rng.random(250_000) * 90).tolist()
    started()
    for step in range(100_000):
        with part("step"):
            first = step * 512 % 39_000
            loss = net.learn(air[first:first + 512], dust[first:first + 512])
        if step % 5 == 4:
            with part("tally"):
                days = worst_days(readings)
        if step % 9 == 8:
            with part("turn"):
                fcntl.flock(ledger, fcntl.LOCK_EX)
            ledger.write(f"{step} {loss:.5f}\n")
            ledger.flush()
            fcntl.flock(ledger, fcntl.LOCK_UN)
        if step % 40 == 39:
            with part("pack"):
                pack(journal)
            print(f"step {step} loss {loss:.4f} days {len(days)}", flush=True)


if __name__ == "__main__":
    main()
