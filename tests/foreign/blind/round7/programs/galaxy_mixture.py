# python: plain
# expected: healthy
# verdict: healthy
# seconds: 35
# how: attach
# Why: EM for a Gaussian mixture over all data in each iteration; a line only every 12 iterations, hardly any gain towards the end of a restart, which is normal.
import sys
import time

import numpy as np


def catalogue(n=150_000, d=12, kinds=14, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 3, (kinds, d))
    mix = rng.normal(0, 0.4, (kinds, d, d)) + np.eye(d)
    z = rng.integers(0, kinds, n)
    x = np.empty((n, d))
    for k in range(kinds):
        rows = z == k
        x[rows] = centres[k] + rng.normal(size=(rows.sum(), d)) @ mix[k]
    return x


class Mixture:
    """Axis-parallel Gaussians."""

    def __init__(self, x, k, rng):
        self.mean = x[rng.choice(len(x), k, replace=False)].copy()
        self.var = np.tile(0.3 * x.var(0), (k, 1))
        self.weight = np.full(k, 1 / k)

    def expectation(self, x, x2):
        logp = (self.mean / self.var) @ x.T
        logp -= (0.5 / self.var) @ x2.T
        const = np.log(self.weight) - 0.5 * (self.mean ** 2 / self.var + np.log(2 * np.pi * self.var)).sum(1)
        logp += const[:, None]
        top = logp.max(0)
        logp -= top
        np.exp(logp, out=logp)
        total = logp.sum(0)
        logp /= total
        return logp, float((top + np.log(total)).mean())

    def maximization(self, x, x2, resp):
        mass = resp.sum(1) + 1e-9
        self.weight = mass / mass.sum()
        self.mean = resp @ x / mass[:, None]
        self.var = resp @ x2 / mass[:, None] - self.mean ** 2 + 1e-6


def main():
    x = catalogue()
    x2 = x * x
    rng = np.random.default_rng(1)
    best = -np.inf
    for restart in range(1000):
        model = Mixture(x, 32, rng)
        t0 = time.time()
        for it in range(1, 121):
            resp, loglik = model.expectation(x, x2)
            model.maximization(x, x2, resp)
            if it % 12 == 0:
                sys.stdout.write(f"restart {restart} iteration {it} log-likelihood {loglik:.5f} ({(time.time() - t0) / it:.3f} s each)\n")
                sys.stdout.flush()
        best = max(best, loglik)
        sys.stdout.write(f"restart {restart} ends at {loglik:.5f}, best {best:.5f}\n")


if __name__ == "__main__":
    main()
