# python: plain
# expected: healthy
# verdict: healthy
# seconds: 30
# env: OMP_WAIT_POLICY=PASSIVE
# how: attach
# Why: nothing at all on the terminal: it writes its progress to a log file. Steps go on all the time.
import os
import tempfile
import numpy as np

K, DIM, CHUNK = 40, 24, 20000
rng = np.random.default_rng(13)
centers = 3 * rng.standard_normal((K, DIM))
spectra = (centers[rng.integers(0, K, 120000)] + rng.standard_normal((120000, DIM))).astype("float32")

log_path = os.path.join(tempfile.mkdtemp(prefix="mixture_"), "train.log")
log = open(log_path, "w", buffering=1)


class Mixture:
    def __init__(self, data):
        self.mean = data[rng.choice(len(data), K, replace=False)].copy()
        self.var = np.ones((K, DIM), "float32")
        self.logw = np.full(K, -np.log(K), "float32")

    def responsibilities(self, x):
        inv = 1 / self.var
        const = self.logw - 0.5 * (np.log(2 * np.pi * self.var) + self.mean ** 2 * inv).sum(axis=1)
        logp = const[:, None] - 0.5 * (inv @ (x * x).T) + (self.mean * inv) @ x.T
        top = logp.max(axis=0)
        p = np.exp(logp - top)
        norm = p.sum(axis=0)
        return p / norm, (top + np.log(norm)).mean()

    def update(self, stats, rate):
        n, s, ss = stats
        n = n + 1e-3
        mean = s / n[:, None]
        var = np.maximum(ss / n[:, None] - mean ** 2, 1e-3)
        self.mean += rate * (mean - self.mean)
        self.var += rate * (var - self.var)
        self.logw = np.log(n / n.sum()).astype("float32")


model = Mixture(spectra)
for step in range(1, 100001):
    begin = rng.integers(0, len(spectra) - CHUNK)
    x = spectra[begin:begin + CHUNK]
    resp, loglik = model.responsibilities(x)
    n = resp.sum(axis=1)
    s, ss = resp @ x, resp @ (x * x)
    model.update((n, s, ss), rate=1.0 / (1 + 0.02 * step))
    if step % 20 == 0:
        log.write(f"step {step} negative log likelihood {-loglik:.4f}\n")
