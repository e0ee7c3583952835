# python: tensorflow
# expected: waits-for-file-lock
# verdict: stuck
# seconds: 35
# where: fcntl.flock
# Why: publish() holds the registry's file lock and calls tidy(), which opens the lock file again and waits for the same lock: for ever, from the second epoch on.
"""Tomorrow's bread demand per shop; each epoch's model is published to a small registry folder."""
import contextlib
import fcntl
import json
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import keras
from keras import layers

DAYS = 28


class Registry:
    def __init__(self, root, keep=1):
        self.root = root
        self.keep = keep
        os.makedirs(root, exist_ok=True)

    @contextlib.contextmanager
    def exclusive(self):
        with open(os.path.join(self.root, ".registry"), "a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(handle, fcntl.LOCK_UN)

    def versions(self):
        return sorted(n for n in os.listdir(self.root) if n.endswith(".keras"))

    def tidy(self):
        with self.exclusive():
            for name in self.versions()[:-self.keep]:
                os.remove(os.path.join(self.root, name))

    def publish(self, model, epoch, score):
        with self.exclusive():
            model.save(os.path.join(self.root, f"v{epoch:04d}.keras"))
            with open(os.path.join(self.root, "index.json"), "w") as f:
                json.dump({"latest": epoch, "score": score}, f)
            if len(self.versions()) > self.keep:
                self.tidy()


class Publish(keras.callbacks.Callback):
    def __init__(self, registry):
        super().__init__()
        self.registry = registry

    def on_epoch_end(self, epoch, logs=None):
        self.registry.publish(self.model, epoch + 1, float(logs["val_loss"]))


def sales(n, seed=13):
    rng = np.random.default_rng(seed)
    day = rng.integers(0, 7, n)[:, None] + np.arange(DAYS + 1)[None]
    level = rng.uniform(0.5, 2.0, (n, 1))
    series = level * (1 + 0.4 * np.sin(2 * np.pi * day / 7)) + rng.normal(0, 0.08, day.shape)
    return series[:, :-1, None].astype("float32"), series[:, -1:].astype("float32")


def main():
    x, y = sales(3600)
    model = keras.Sequential([
        keras.Input((DAYS, 1)),
        layers.GRU(48, return_sequences=True),
        layers.GRU(48),
        layers.Dense(1),
    ])
    model.compile(optimizer="adam", loss="mse")
    registry = Registry(tempfile.mkdtemp(prefix="bakery_"))
    model.fit(x, y, validation_split=0.1, batch_size=64, epochs=300,
              callbacks=[Publish(registry)], verbose=1)


if __name__ == "__main__":
    main()
