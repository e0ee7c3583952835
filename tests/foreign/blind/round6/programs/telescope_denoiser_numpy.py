# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the loss is noisy because the spectra have outliers, a line comes every few seconds only, and every 250 steps all weights and
#   moments are written to disk, which takes a few hundredths of a second.
"""Denoising autoencoder for telescope spectra, written out in numpy."""
import logging
import pathlib
import tempfile

import numpy as np

logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO)
BANDS, HIDDEN, CODE = 512, 768, 48


def spectra(n, rng):
    band = np.arange(BANDS, dtype=np.float32)
    out = np.zeros((n, BANDS), np.float32)
    for k in range(n):
        for centre, width in zip(rng.uniform(0, BANDS, 5), rng.uniform(4, 30, 5)):
            out[k] += rng.gamma(1.0) * np.exp(-0.5 * ((band - centre) / width) ** 2)
    out *= rng.lognormal(0, 0.7, (n, 1))
    return out


class Adam:
    def __init__(self, params, rate=1e-3, b1=0.9, b2=0.99):
        self.params, self.rate, self.b1, self.b2, self.t = params, rate, b1, b2, 0
        self.m = [np.zeros_like(p) for p in params]
        self.v = [np.zeros_like(p) for p in params]

    def step(self, grads):
        self.t += 1
        size = self.rate * (1 - self.b2 ** self.t) ** 0.5 / (1 - self.b1 ** self.t)
        for p, g, m, v in zip(self.params, grads, self.m, self.v):
            m += (1 - self.b1) * (g - m)
            v += (1 - self.b2) * (g * g - v)
            p -= np.float32(size) * m / (np.sqrt(v) + 1e-8)


class Denoiser:
    def __init__(self, rng):
        sizes = [BANDS, HIDDEN, CODE, HIDDEN, BANDS]
        self.w = [rng.normal(0, (1.6 / a) ** 0.5, (a, b)).astype(np.float32) for a, b in zip(sizes, sizes[1:])]
        self.b = [np.zeros(b, np.float32) for b in sizes[1:]]

    def gradients(self, noisy, clean):
        acts = [noisy]
        for k, (w, b) in enumerate(zip(self.w, self.b)):
            h = acts[-1] @ w + b
            acts.append(np.maximum(h, 0.02 * h) if k < 3 else h)
        error = acts[-1] - clean
        d = error * (2.0 / error.size)
        gw, gb = [None] * 4, [None] * 4
        for k in (3, 2, 1, 0):
            gw[k], gb[k] = acts[k].T @ d, d.sum(0)
            if k:
                d = (d @ self.w[k].T) * np.where(acts[k] > 0, np.float32(1), np.float32(0.02))
        return float((error * error).mean()), gw + gb


def main(batch=384):
    rng = np.random.default_rng(77)
    clean = spectra(4000, rng)
    noisy = clean + 0.2 * rng.standard_normal(clean.shape, dtype=np.float32)
    model = Denoiser(rng)
    adam = Adam(model.w + model.b)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="spectra_"))
    for step in range(1, 1_000_001):
        pick = rng.integers(0, len(clean), batch)
        loss, grads = model.gradients(noisy[pick], clean[pick])
        adam.step(grads)
        if step % 40 == 0:
            logging.info("step %d  mse %.5f", step, loss)
        if step % 250 == 0:
            np.savez(folder / "checkpoint.npz", *adam.params, *adam.m, *adam.v)


if __name__ == "__main__":
    main()
