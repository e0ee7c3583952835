# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: a loop in Python around partial_fit, labels that are partly wrong, a held-out score and a file written now and then. The
# batches are only sliced from memory; the products of matrices in the network are the work.
"""Smell the cork: does a spectrum show taint? MLPClassifier.partial_fit on a stream (scikit-learn)."""
import os
import tempfile
import time
import warnings

import joblib
import numpy as np
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier

warnings.filterwarnings("ignore")
CHANNELS, CLASSES, BATCH = 400, 3, 256


def spectra(n, seed):
    rng = np.random.default_rng(seed)
    axis = np.linspace(0, 1, CHANNELS, dtype=np.float32)
    peaks = np.random.default_rng(0).uniform(0.05, 0.95, (CLASSES, 5))
    bases = np.stack([np.exp(-((axis[None] - p[:, None]) / 0.012) ** 2).sum(0) for p in peaks]).astype(np.float32)
    label = rng.integers(0, CLASSES, n)
    strength = rng.gamma(2.0, 0.5, (n, 1)).astype(np.float32)
    x = strength * bases[label] + rng.standard_normal((n, CHANNELS), dtype=np.float32)
    wrong = rng.random(n) < 0.05
    label[wrong] = rng.integers(0, CLASSES, wrong.sum())
    return x, label


def main(passes=400):
    x, y = spectra(20000, 1)
    x_test, y_test = spectra(500, 2)
    mean, std = x.mean(0), x.std(0)
    x = (x - mean) / std
    x_test = (x_test - mean) / std
    net = MLPClassifier(hidden_layer_sizes=(640, 320), alpha=1e-3, learning_rate_init=1e-4, batch_size=BATCH,
                        random_state=3)
    folder = tempfile.mkdtemp(prefix="cork_")
    rng = np.random.default_rng(4)
    batch, began = 0, time.time()
    for epoch in range(passes):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - BATCH + 1, BATCH):
            rows = order[start:start + BATCH]
            net.partial_fit(x[rows], y[rows], classes=np.arange(CLASSES))
            batch += 1
            if batch % 10 == 0:
                print(f"[{time.time() - began:6.1f}s] pass {epoch} batch {batch} loss {net.loss_:.4f}", flush=True)
            if batch % 250 == 0:
                held_out = log_loss(y_test, net.predict_proba(x_test))
                print(f"    held-out loss {held_out:.4f} accuracy {net.score(x_test, y_test):.3f}", flush=True)
                joblib.dump(net, os.path.join(folder, "net.joblib"))


if __name__ == "__main__":
    main()
