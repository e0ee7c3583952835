# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 28
# Why: a loop in Python calls partial_fit on one chunk after the other, the classes drift from chunk to chunk so that the loss
# jumps, it scores on held-out echoes and dumps the model now and then; the network itself is nearly all of the time.
"""Seabed classes from multibeam sonar texture, learned chunk by chunk with scikit-learn."""
import logging
import sys
import tempfile
from pathlib import Path

import joblib
import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("seabed")

CLASSES = np.array(["gravel", "mud", "rock", "sand", "seagrass", "wreck"])
FEATURES = 150
MODEL = Path(tempfile.gettempdir()) / "seabed_texture.joblib"


class Survey:
    """Survey lines one after the other; each crosses some kinds of bottom more than others."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.centres = np.random.default_rng(1).normal(size=(len(CLASSES), 3, FEATURES)) * 0.32
        self.mixing = np.random.default_rng(2).normal(size=(FEATURES, FEATURES)) / np.sqrt(FEATURES)

    def line(self, pings, even=False):
        share = np.full(len(CLASSES), 1 / len(CLASSES)) if even else self.rng.dirichlet(np.full(len(CLASSES), 0.8))
        kind = self.rng.choice(len(CLASSES), size=pings, p=share)
        lobe = self.rng.integers(3, size=pings)
        echo = self.centres[kind, lobe] + self.rng.standard_normal((pings, FEATURES))
        return np.tanh(echo @ self.mixing) * 40 + 90, CLASSES[kind]


def main():
    survey = Survey(seed=5)
    held_x, held_y = Survey(seed=6).line(1500, even=True)
    scaler = StandardScaler().fit(survey.line(4000, even=True)[0])
    held_x = scaler.transform(held_x)
    model = MLPClassifier(hidden_layer_sizes=(384, 192), batch_size=256, learning_rate_init=5e-4, alpha=1e-3, random_state=4)

    recent = []
    for n in range(1, 5001):
        x, y = survey.line(2048)
        x = scaler.transform(x)
        model.partial_fit(x, y, classes=CLASSES)
        recent.append(model.loss_)
        if n % 4 == 0:
            log.info("line %4d  loss %.4f  (mean of the last twenty %.4f)", n, model.loss_, np.mean(recent[-20:]))
        if n % 40 == 0:
            log.info("line %4d  held-out accuracy %.3f", n, model.score(held_x, held_y))
        if n % 120 == 0:
            joblib.dump((scaler, model), MODEL)
        del recent[:-20]


if __name__ == "__main__":
    main()
