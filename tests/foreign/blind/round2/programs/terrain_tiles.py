# python: plain
# expected: limits-or-disk-full [also accepted: crashed]
# verdict: crashed
# env: OMP_WAIT_POLICY=passive
# seconds: 35
# wrap: prlimit --nofile=1024:1024
# where: np.load / self.open_tiles
# Why: every tile is memory-mapped and kept in a dictionary; each map holds a file descriptor, and at the usual limit of 1024 the run ends in "Too many open files" some time into the first epoch.
import os
import tempfile
import numpy as np

SIDE, TILES, PATCH, BATCH = 48, 3000, 12, 16
rng = np.random.default_rng(88)


def write_tiles(folder):
    os.makedirs(folder, exist_ok=True)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    for i in range(TILES):
        a, b, c = rng.normal(size=3)
        height = a * np.sin(3 * xx + b) + c * yy ** 2 + 0.05 * rng.normal(size=(SIDE, SIDE))
        np.save(os.path.join(folder, f"tile{i:05d}.npy"), height.astype(np.float32))


class TileStore:
    def __init__(self, folder):
        self.folder = folder
        self.open_tiles = {}

    def tile(self, i):
        if i not in self.open_tiles:
            path = os.path.join(self.folder, f"tile{i:05d}.npy")
            self.open_tiles[i] = np.load(path, mmap_mode="r")
        return self.open_tiles[i]

    def patches(self, ids):
        rows = []
        for i in ids:
            tile = self.tile(i)
            for r, c in rng.integers(0, SIDE - PATCH, (24, 2)):
                rows.append(np.asarray(tile[r:r + PATCH, c:c + PATCH]).ravel())
        x = np.stack(rows)
        return x - x.mean(1, keepdims=True)


class Autoencoder:
    def __init__(self, width, code=24):
        self.enc = rng.normal(size=(width, code)) / np.sqrt(width)
        self.dec = rng.normal(size=(code, width)) / np.sqrt(code)

    def step(self, x, rate):
        z = np.tanh(x @ self.enc)
        err = z @ self.dec - x
        back = (err @ self.dec.T) * (1 - z ** 2)
        self.dec -= rate / len(x) * z.T @ err
        self.enc -= rate / len(x) * x.T @ back
        return float(np.mean(err ** 2))


def train(store, net):
    step = 0
    for epoch in range(200):
        order = rng.permutation(TILES)
        for at in range(0, TILES - BATCH, BATCH):
            x = store.patches(order[at:at + BATCH].tolist())
            for _ in range(60):
                loss = net.step(x, 0.05)
            step += 1
            if step % 5 == 0:
                print(f"epoch {epoch} step {step} mse {loss:.5f}", flush=True)


def main():
    with tempfile.TemporaryDirectory() as root:
        folder = os.path.join(root, "tiles")
        write_tiles(folder)
        print(TILES, "tiles written", flush=True)
        store = TileStore(folder)
        net = Autoencoder(PATCH * PATCH)
        try:
            train(store, net)
        finally:
            store.open_tiles.clear()


if __name__ == "__main__":
    main()
