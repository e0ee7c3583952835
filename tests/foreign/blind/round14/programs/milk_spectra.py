# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: nothing is trained for the first seconds while the spectra are drawn and smoothed, then the loss is noisy (small batches, dropout),
# now and then comes a validation and a checkpoint. All of it is small beside the minutes of training, and the loss falls.
"""Fat, protein and lactose of milk from its infrared spectrum: smoothing, scatter correction and a network in NumPy."""
import pathlib
import tempfile
import time

import numpy as np

POINTS, SAMPLES, HELD = 600, 6000, 400
WIDTHS = [POINTS, 512, 256, 3]


def draw_spectra(count, rng):
    waves = np.linspace(0, 1, POINTS)
    peaks = np.stack([sum(np.exp(-((waves - c) / w) ** 2) for c, w in zip(rng.uniform(0, 1, 5), rng.uniform(0.01, 0.05, 5)))
                      for _ in range(3)])
    parts = rng.normal([3.8, 3.3, 4.7], [0.9, 0.4, 0.3], (count, 3))
    spectra = parts @ peaks + 0.05 * np.tanh(parts[:, :1] * parts[:, 1:2] / 10) * peaks[:1]
    tilt = rng.normal(0, 0.4, (count, 1)) * waves + rng.normal(0, 0.3, (count, 1))
    spectra = spectra * rng.uniform(0.8, 1.2, (count, 1)) + tilt + rng.normal(0, 0.15, spectra.shape)
    return spectra, parts


def smooth(spectra, window=21, degree=3):
    """Savitzky and Golay: a cubic through every window, spectrum by spectrum."""
    at = np.arange(window) - window // 2
    centre = np.linalg.pinv(np.vander(at, degree + 1, increasing=True))[0]
    return np.stack([np.convolve(np.pad(s, window // 2, mode="edge"), centre[::-1], mode="valid") for s in spectra])


def correct_scatter(spectra, reference):
    design = np.stack([np.ones(POINTS), reference], 1)
    offset, slope = np.linalg.lstsq(design, spectra.T, rcond=None)[0]
    return (spectra - offset[:, None]) / slope[:, None]


class Network:
    def __init__(self, rng):
        self.rng = rng
        self.w = [rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in zip(WIDTHS, WIDTHS[1:])]
        self.b = [np.zeros(b, dtype=np.float32) for b in WIDTHS[1:]]
        self.moments = [[np.zeros_like(p), np.zeros_like(p)] for p in self.w + self.b]
        self.count = 0

    def forward(self, x, drop=0.0):
        self.kept = [x]
        for i, (w, b) in enumerate(zip(self.w, self.b)):
            x = x @ w + b
            if i < len(self.w) - 1:
                x = np.maximum(x, 0)
                if drop:
                    x *= (self.rng.random(x.shape, dtype=np.float32) >= drop) / np.float32(1 - drop)
            self.kept.append(x)
        return x

    def learn(self, x, y, rate, drop=0.2):
        error = self.forward(x, drop) - y
        grad, gw, gb = 2 * error / error.size, [], []
        for i in reversed(range(len(self.w))):
            gw.insert(0, self.kept[i].T @ grad)
            gb.insert(0, grad.sum(0))
            if i:
                grad = (grad @ self.w[i].T) * (self.kept[i] > 0) / np.float32(1 - drop)
        self.count += 1
        for p, g, (m, v) in zip(self.w + self.b, gw + gb, self.moments):
            m += np.float32(0.1) * (g - m)
            v += np.float32(0.001) * (g * g - v)
            p -= np.float32(rate) * (m / np.float32(1 - 0.9 ** self.count)) / (np.sqrt(v / np.float32(1 - 0.999 ** self.count)) + 1e-7)
        return float((error ** 2).mean())


def main():
    rng = np.random.default_rng(31)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="milk-"))
    spectra, parts = draw_spectra(SAMPLES + HELD, rng)
    spectra = smooth(spectra)
    spectra = correct_scatter(spectra, spectra[:SAMPLES].mean(0))
    mean, spread = spectra[:SAMPLES].mean(0), spectra[:SAMPLES].std(0) + 1e-3
    x, y = ((spectra - mean) / spread).astype(np.float32), ((parts - [3.8, 3.3, 4.7]) / [0.9, 0.4, 0.3]).astype(np.float32)
    print(f"{SAMPLES} spectra of {POINTS} points are ready", flush=True)
    model, began = Network(rng), time.time()
    for step in range(1, 1000001):
        rows = rng.integers(0, SAMPLES, 64)
        loss = model.learn(x[rows], y[rows], rate=3e-4 / (1 + step / 4000))
        if step % 20 == 0:
            print(f"step {step} loss {loss:.4f} ({step / (time.time() - began):.0f} steps/s)", flush=True)
        if step % 500 == 0:
            error = np.abs(model.forward(x[SAMPLES:]) - y[SAMPLES:]).mean(0) * [0.9, 0.4, 0.3]
            np.savez(folder / "milk.npz", *model.w, *model.b)
            print("held out: fat {:.2f} protein {:.2f} lactose {:.2f}".format(*error), flush=True)


if __name__ == "__main__":
    main()
