# python: plain
# expected: healthy
# verdict: healthy
# seconds: 35
# env: OMP_WAIT_POLICY=passive
# how: attach
# Why: Looks suspicious because the printed loss has converged to four digits within each restart and then stays; EM is run to a fixed number of iterations and restarted from new means, as asked.
import numpy as np


def samples(count=30000, dims=8, groups=12, seed=0):
    rng = np.random.default_rng(seed)
    means = rng.uniform(-6, 6, (groups, dims))
    scales = rng.uniform(0.5, 1.5, (groups, dims))
    which = rng.integers(0, groups, count)
    return means[which] + scales[which] * rng.standard_normal((count, dims))


class DiagonalMixture:
    def __init__(self, x, groups, rng):
        self.means = x[rng.choice(len(x), groups, replace=False)].copy()
        self.variances = np.tile(x.var(0), (groups, 1))
        self.weights = np.full(groups, 1.0 / groups)

    def expectation(self, x):
        precision = 1.0 / self.variances
        quadratic = (x ** 2) @ precision.T - 2 * x @ (self.means * precision).T
        quadratic += (self.means ** 2 * precision).sum(1)
        log_p = -0.5 * (quadratic + np.log(2 * np.pi * self.variances).sum(1)) + np.log(self.weights)
        top = log_p.max(1, keepdims=True)
        p = np.exp(log_p - top)
        total = p.sum(1, keepdims=True)
        return p / total, float((np.log(total) + top).mean())

    def maximization(self, x, r):
        mass = r.sum(0) + 1e-8
        self.weights = mass / len(x)
        self.means = (r.T @ x) / mass[:, None]
        self.variances = (r.T @ (x ** 2)) / mass[:, None] - self.means ** 2 + 1e-4


def main():
    x = samples()
    rng = np.random.default_rng(1)
    step, best = 0, -np.inf
    for restart in range(1000):
        model = DiagonalMixture(x, 12, rng)
        for iteration in range(150):
            responsibilities, likelihood = model.expectation(x)
            model.maximization(x, responsibilities)
            step += 1
            if step % 10 == 0:
                print(f"restart {restart} step {step} loss {-likelihood:.4f}", flush=True)
        best = max(best, likelihood)


if __name__ == "__main__":
    main()
