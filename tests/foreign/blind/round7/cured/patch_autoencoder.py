# python: plain
# The twin without the fault.


import time
import numpy as np

PATCH = 24
rng = np.random.default_rng(17)


def textures(n, kinds=10):
    """Mixtures of a few gratings with noise, flattened."""
    yy, xx = np.mgrid[0:PATCH, 0:PATCH] / PATCH
    angle = rng.uniform(0, np.pi, (kinds, 1, 1))
    freq = rng.uniform(1, 5, (kinds, 1, 1))
    wave = np.sin(2 * np.pi * freq * (np.cos(angle) * xx + np.sin(angle) * yy)).reshape(kinds, -1)
    mix = rng.normal(0, 0.5, (n, kinds))
    return (mix @ wave + rng.normal(0, 0.1, (n, PATCH * PATCH))).astype(np.float32)


def layer(n_in, n_out):
    return rng.normal(0, np.sqrt(2.0 / n_in), (n_in, n_out)).astype(np.float32)


class Autoencoder:
    def __init__(self, sizes):
        self.weights = [layer(a, b) for a, b in zip(sizes, sizes[1:])]
        self.momentum = [np.zeros_like(w) for w in self.weights]

    def forward(self, x):
        acts = [x]
        for i, w in enumerate(self.weights):
            z = acts[-1] @ w
            acts.append(z if i == len(self.weights) - 1 else np.maximum(z, 0, out=z))
        return acts

    def fit_batch(self, x, lr):
        acts = self.forward(x)
        delta = acts[-1] - x
        loss = float(np.vdot(delta, delta)) / delta.size
        delta *= 2.0 / len(x) / PATCH
        for i in range(len(self.weights) - 1, -1, -1):
            grad = acts[i].T @ delta
            if i > 0:
                delta = delta @ self.weights[i].T
                delta *= acts[i] > 0
            self.momentum[i] *= 0.9
            self.momentum[i] -= lr * grad
            self.weights[i] += self.momentum[i]
        return loss


data = textures(12_000)
model = Autoencoder([PATCH * PATCH, 1024, 768, 128, 768, 1024, PATCH * PATCH])
batch, step, tick = 512, 0, time.time()
for epoch in range(5000):
    order = rng.permutation(len(data))
    for lo in range(0, len(data) - batch + 1, batch):
        loss = model.fit_batch(data[order[lo:lo + batch]], lr=0.01)
        step += 1
        if step % 5 == 0:
            print("epoch %3d  step %5d  recon %.4f  %.0f ms/step" % (epoch, step, loss, 200 * (time.time() - tick)), flush=True)
            tick = time.time()
