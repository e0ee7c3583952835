# python: plain
# expected: waits-for-pipe
# verdict: stuck
# seconds: 30
# where: join()
# Why: in every fortieth round the workers send their residuals too, more than a pipe holds; the main process joins them before it
# reads, so they wait for a reader and it waits for their end.
"""Frost risk in orchards: kernel ridge by gradient rounds, the rows split over two processes."""
import os

os.environ["OMP_NUM_THREADS"] = "1"      # one core for each share

import multiprocessing as mp
import time

import numpy as np

ROWS, INPUTS, FEATURES, SHARES = 40000, 9, 200, 2


def weather(seed=3):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((ROWS, INPUTS))
    y = np.sin(x[:, 0] * 1.5) + 0.5 * x[:, 1] * x[:, 2] - 0.3 * np.abs(x[:, 3]) + 0.1 * rng.standard_normal(ROWS)
    w = rng.standard_normal((INPUTS, FEATURES)) * 0.5
    b = rng.uniform(0, 2 * np.pi, FEATURES)
    phi = (np.cos(x @ w + b) * np.sqrt(2 / FEATURES)).astype(np.float32)
    return phi, y.astype(np.float32)


def share_gradient(conn, phi, y, theta, detailed):
    residual = phi @ theta - y
    grad = phi.T @ residual
    reply = {"grad": grad, "sse": float(residual @ residual)}
    if detailed:
        reply["residual"] = residual
    conn.send(reply)
    conn.close()


def one_round(phi, y, theta, detailed):
    bounds = np.linspace(0, ROWS, SHARES + 1).astype(int)
    conns, procs = [], []
    for lo, hi in zip(bounds, bounds[1:]):
        here, there = mp.Pipe(duplex=False)
        p = mp.Process(target=share_gradient, args=(there, phi[lo:hi], y[lo:hi], theta, detailed))
        p.start()
        there.close()
        conns.append(here)
        procs.append(p)
    for p in procs:
        p.join()
    replies = [c.recv() for c in conns]
    for c in conns:
        c.close()
    return replies


def main():
    phi, y = weather()
    theta = np.zeros(FEATURES, dtype=np.float32)
    velocity = np.zeros_like(theta)
    weight = 1e-4
    began = time.time()
    for k in range(1, 100_001):
        detailed = k % 40 == 0
        replies = one_round(phi, y, theta, detailed)
        grad = sum(r["grad"] for r in replies) / ROWS + weight * theta
        mse = sum(r["sse"] for r in replies) / ROWS
        velocity = 0.95 * velocity - 0.8 * grad
        theta = theta + velocity
        if k % 5 == 0:
            print(f"round {k} mse {mse:.4f} |theta| {np.linalg.norm(theta):.3f} {k / (time.time() - began):.1f} rounds/s", flush=True)
        if detailed:
            residual = np.concatenate([r["residual"] for r in replies])
            worst = np.argsort(np.abs(residual))[-5:][::-1]
            print(f"round {k} worst rows {worst.tolist()} 95% {np.quantile(np.abs(residual), 0.95):.3f}", flush=True)


if __name__ == "__main__":
    main()
