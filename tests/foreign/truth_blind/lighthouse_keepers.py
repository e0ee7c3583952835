# python: plain
# truth: pause=sleeps, batch=makes data, step=computes, save=checkpoints
# Why: the loop looks into a folder again and again until another process has put the next night's watch there.
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib

import numpy as np

from stopwatch import part, started

KEEPER = """
import json, os, random, sys, time, zlib
folder, parent, night = sys.argv[1], os.getppid(), 0
rng = random.Random(3)
packed = []
for _ in range(6):
    ships = [{"bearing": rng.random() * 360, "speed": rng.random() * 20, "blinks": [rng.random() for _ in range(12)]}
             for _ in range(1500)]
    packed.append(zlib.compress(json.dumps(ships).encode(), 3))
while os.getppid() == parent:
    if not os.listdir(folder):
        time.sleep(0.2)
        path = os.path.join(folder, "night%06d" % night)
        with open(path + ".tmp", "wb") as file:
            file.write(packed[night % 6])
        os.rename(path + ".tmp", path + ".z")
        night += 1
    time.sleep(0.06)
"""


class Beam:
    """Logistic units on random features, by hand, with Adam."""

    def __init__(self, rng):
        self.lens = rng.normal(0, 0.3, (14, 1_024)).astype(np.float32)
        self.weights = np.zeros((1_024, 256), np.float32)
        self.m, self.v, self.t = np.zeros_like(self.weights), np.zeros_like(self.weights), 0

    def learn(self, ships, warned):
        features = np.cos(ships @ self.lens)
        chance = 1 / (1 + np.exp(-features @ self.weights))
        slope = features.T @ (chance - warned) / len(ships)
        self.t += 1
        self.m += 0.1 * (slope - self.m)
        self.v += 0.001 * (slope ** 2 - self.v)
        self.weights -= 1e-3 * (self.m / (1 - 0.9 ** self.t)) / (np.sqrt(self.v / (1 - 0.999 ** self.t)) + 1e-8)
        return float(np.abs(chance - warned).mean())


def look_out(path):
    while not os.path.exists(path):
        time.sleep(0.02)


def read_night(path):
    with open(path, "rb") as file:
        ships = json.loads(zlib.decompress(file.read()))
    rows = np.empty((len(ships), 14), np.float32)
    for row, ship in zip(rows, ships):
        row[0], row[1] = np.sin(ship["bearing"]), ship["speed"] / 20
        row[2:] = ship["blinks"]
    return rows, (rows[:, :1] + rows[:, 1:2] > np.linspace(0, 1, 256)).astype(np.float32)


def main():
    rng = np.random.default_rng(12)
    folder, keep = tempfile.mkdtemp(), tempfile.mkdtemp()
    keeper = subprocess.Popen([sys.executable, "-c", KEEPER, folder])
    beam = Beam(rng)
    look_out(os.path.join(folder, "night000000.z"))
    started()
    for night in range(100_000):
        path = os.path.join(folder, f"night{night:06d}.z")
        with part("pause"):
            look_out(path)
        with part("batch"):
            ships, warned = read_night(path)
        with part("step"):
            for first in range(0, len(ships), 500):
                loss = beam.learn(ships[first:first + 500], warned[first:first + 500])
        os.remove(path)
        if night % 10 == 9:
            with part("save"):
                np.savez_compressed(os.path.join(keep, "beam.npz"), lens=beam.lens, weights=beam.weights,
                                    m=beam.m, v=beam.v, t=beam.t)
            print(f"night {night} loss {loss:.4f} keeper {keeper.pid}", flush=True)


if __name__ == "__main__":
    main()
