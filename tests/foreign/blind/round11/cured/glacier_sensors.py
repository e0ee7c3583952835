import os
import sys
import tempfile
import time

import numpy as np

np.seterr(all="ignore")

COLUMNS = ["temp", "melt", "tilt", "strain", "wind", "snow", "albedo", "flow", "pressure", "calving"]
BATCH = 512


def write_log(path, rows=120000, seed=31):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(rows, len(COLUMNS))).astype(np.float32)
    table[:, 0] = table[:, 0] * 6 - 4
    table[:, 8] = table[:, 8] * 12 + 860
    table[:, 9] = rng.random(rows) < 0.0095
    drift = 0.4 * np.sin(table[:, 0] / 3) + 0.3 * table[:, 2] * table[:, 3] + 0.9 * table[:, 9] + 0.2 * np.abs(table[:, 5])
    drift += 0.1 * rng.normal(size=rows)
    np.save(path, np.column_stack([table, drift]).astype(np.float32))


def standardise(batch):
    return (batch - batch.mean(axis=0)) / (batch.std(axis=0) + 1e-3)


def layer(rng, n_in, n_out):
    return [(rng.normal(size=(n_in, n_out)) * np.sqrt(2 / n_in)).astype(np.float32), np.zeros(n_out, np.float32)]


def forward(net, x):
    acts = [x]
    for i, (w, b) in enumerate(net):
        z = acts[-1] @ w + b
        acts.append(z if i == len(net) - 1 else np.tanh(z))
    return acts


def backward(net, acts, err):
    d = (2.0 / len(err)) * err
    grads = []
    for i in range(len(net) - 1, -1, -1):
        grads.append((acts[i].T @ d, d.sum(0)))
        if i:
            d = (d @ net[i][0].T) * (1 - acts[i] ** 2)
    return grads[::-1]


def main():
    path = os.path.join(tempfile.mkdtemp(prefix="glacier"), "log.npy")
    write_log(path)
    log = np.load(path, mmap_mode="r")
    rng = np.random.default_rng(6)
    net = [layer(rng, len(COLUMNS), 256), layer(rng, 256, 256), layer(rng, 256, 1)]
    speed = [[np.zeros_like(w), np.zeros_like(b)] for w, b in net]
    step, began = 0, time.time()
    for epoch in range(400):
        order = rng.permutation(len(log))
        losses = []
        for k in range(0, len(order) - BATCH + 1, BATCH):
            rows = np.asarray(log[np.sort(order[k:k + BATCH])])
            x, y = standardise(rows[:, :-1]), rows[:, -1:]
            acts = forward(net, x)
            err = acts[-1] - y
            for (p, v, g) in zip(net, speed, backward(net, acts, err)):
                for j in range(2):
                    v[j] = 0.9 * v[j] - 0.01 * g[j]
                    p[j] += v[j]
            losses.append(float(np.mean(err ** 2)))
            step += 1
            if step % 20 == 0:
                sys.stdout.write(f"epoch {epoch} step {step} loss {np.mean(losses[-20:]):.5f} ({step / (time.time() - began):.0f}/s)\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
