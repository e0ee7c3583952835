# python: plain
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: The main process only starts two children and waits in join(); the children train, one fold each, with one BLAS thread each on
# a machine with two cores.
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import multiprocessing as mp
import time

import numpy as np

FOLDS = 2


def load_houses():
    rng = np.random.default_rng(55)
    x = rng.normal(size=(24_000, 60)).astype(np.float32)
    price = np.sin(x[:, 0] * 2) + x[:, 1] * x[:, 2] + 0.5 * np.abs(x[:, 3]) + 0.2 * x[:, 4:14].sum(1)
    return x, (price + rng.normal(0, 0.3, len(x))).astype(np.float32)[:, None]


class Regressor:
    def __init__(self, n_in, width, seed):
        rng = np.random.default_rng(seed)
        shapes = [(n_in, width), (width, width), (width, 1)]
        self.w = [rng.normal(0, (2 / s[0]) ** 0.5, s).astype(np.float32) for s in shapes]
        self.b = [np.zeros(s[1], np.float32) for s in shapes]

    def forward(self, x):
        acts = [x]
        for i, (w, b) in enumerate(zip(self.w, self.b)):
            z = acts[-1] @ w + b
            acts.append(np.maximum(z, 0) if i < 2 else z)
        return acts

    def learn(self, x, y, lr):
        acts = self.forward(x)
        d = 2 * (acts[-1] - y) / len(x)
        for i in (2, 1, 0):
            gw, gb = acts[i].T @ d, d.sum(0)
            if i:
                d = (d @ self.w[i].T) * (acts[i] > 0)
            self.w[i] -= lr * gw
            self.b[i] -= lr * gb
        return float(((acts[-1] - y) ** 2).mean())


def run_fold(fold, x, y):
    held = np.arange(len(x)) % FOLDS == fold
    x_train, y_train, x_test, y_test = x[~held], y[~held], x[held], y[held]
    model, rng = Regressor(x.shape[1], 512, fold), np.random.default_rng(fold)
    for epoch in range(1, 2000):
        t0, total, n = time.time(), 0.0, 0
        order = rng.permutation(len(x_train))
        for k in range(0, len(order), 256):
            pick = order[k:k + 256]
            total += model.learn(x_train[pick], y_train[pick], lr=0.01)
            n += 1
        if epoch % 10 == 0:
            test = float(((model.forward(x_test)[-1] - y_test) ** 2).mean())
            print(f"[fold {fold}] epoch {epoch}: train {total / n:.4f}  held out {test:.4f}", flush=True)
        else:
            print(f"[fold {fold}] epoch {epoch}: train {total / n:.4f}  ({time.time() - t0:.2f} s)", flush=True)


def main():
    x, y = load_houses()
    workers = [mp.Process(target=run_fold, args=(k, x, y), name=f"fold-{k}") for k in range(FOLDS)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    print("all folds done", [w.exitcode for w in workers])


if __name__ == "__main__":
    main()
