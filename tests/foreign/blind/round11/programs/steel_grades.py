# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: scikit-learn's MLPClassifier driven by a Python loop of partial_fit, with a score now and then and a model file at times. No framework
# a tool would look for, a loss that jumps from block to block, and yet all the time goes into the matrix products.
"""Grades of steel from spectrometer readings, learned block by block as the mill delivers them."""
import os
import tempfile
import time

import joblib
import numpy as np
from sklearn.metrics import accuracy_score, log_loss
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

GRADES, LINES = 12, 160


class Mill:
    """Readings drift from shift to shift: each block comes from its own furnace."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.means = np.random.default_rng(77).normal(0, 1, (GRADES, 3, LINES)).astype(np.float32)

    def block(self, rows=512):
        grade = self.rng.integers(0, GRADES, rows)
        variant = self.rng.integers(0, 3, rows)
        drift = self.rng.normal(0, 0.8, LINES).astype(np.float32)
        noise = self.rng.standard_normal((rows, LINES), dtype=np.float32)
        return 30 + 8 * (0.55 * self.means[grade, variant] + 2.4 * noise + drift), grade


def main():
    folder = tempfile.mkdtemp(prefix="steel_")
    mill = Mill(1)
    scaler = StandardScaler().fit(mill.block(4096)[0])
    held_x, held_y = Mill(2).block(600)
    held_x = scaler.transform(held_x)
    model = MLPClassifier(
        hidden_layer_sizes=(512, 512), activation="relu", solver="adam", learning_rate_init=1e-4, batch_size=128,
        alpha=1e-4, random_state=3,
    )
    classes = np.arange(GRADES)
    began, losses = time.time(), []
    best = 0.0
    for shift in range(1, 6001):
        x, y = mill.block()
        model.partial_fit(scaler.transform(x), y, classes=classes)
        losses.append(model.loss_)
        if shift % 5 == 0:
            print(f"shift {shift} loss {model.loss_:.4f} (mean of 5: {np.mean(losses[-5:]):.4f}) "
                  f"{512 * shift / (time.time() - began):.0f} readings/s", flush=True)
        if shift % 50 == 0:
            guess = model.predict_proba(held_x)
            score = accuracy_score(held_y, guess.argmax(1))
            print(f"   held out: log loss {log_loss(held_y, guess, labels=classes):.4f} accuracy {score:.3f}", flush=True)
            if score > best:
                best = score
                joblib.dump((scaler, model), os.path.join(folder, "grades.joblib"))


if __name__ == "__main__":
    main()
