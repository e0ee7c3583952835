# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: a memory of old batches fills during the first seconds and then stays at its size, every hundredth step is followed by a short
#      evaluation and a checkpoint, and the world under the data drifts; the steps are even, the memory level, and the loss falls.
"""Continual learning on a drifting stream of kelp-forest camera frames, with rehearsal."""
import collections
import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIDE, CLASSES, FRESH, OLD = 32, 6, 48, 48


class Camera:
    """Frames whose lighting wanders over the season."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.prototypes = np.random.default_rng(0).normal(0, 1, (CLASSES, SIDE, SIDE, 3)).astype(np.float32)
        self.clock = 0

    def shoot(self, count):
        self.clock += 1
        light = 1.0 + 0.3 * np.sin(self.clock / 60)
        label = self.rng.integers(CLASSES, size=count)
        noise = self.rng.standard_normal((count, SIDE, SIDE, 3), dtype=np.float32)
        return 0.35 * np.float32(light) * self.prototypes[label] + noise, label.astype(np.int32)


class Rehearsal:
    def __init__(self, batches):
        self.shelf = collections.deque(maxlen=batches)
        self.rng = np.random.default_rng(4)

    def add(self, x, y):
        self.shelf.append((x, y))

    def draw(self, count):
        x, y = self.shelf[self.rng.integers(len(self.shelf))]
        chosen = self.rng.integers(len(x), size=count)
        return x[chosen], y[chosen]


model = keras.Sequential([
    keras.Input((SIDE, SIDE, 3)),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
    layers.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
    layers.Flatten(),
    layers.Dropout(0.5),
    layers.Dense(CLASSES),
])
optimizer = keras.optimizers.SGD(0.01, momentum=0.9)
criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer.build(model.trainable_variables)


@tf.function(input_signature=[tf.TensorSpec((None, SIDE, SIDE, 3)), tf.TensorSpec((None,), tf.int32)])
def learn(x, y):
    with tf.GradientTape() as tape:
        loss = criterion(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


@tf.function(input_signature=[tf.TensorSpec((None, SIDE, SIDE, 3))])
def classify(x):
    return tf.argmax(model(x, training=False), axis=-1)


def main():
    camera, rehearsal = Camera(1), Rehearsal(batches=40)
    x_test, y_test = Camera(2).shoot(256)
    folder = tempfile.mkdtemp(prefix="kelp")
    window, began = collections.deque(maxlen=20), time.time()
    for step in range(1, 20001):
        x, y = camera.shoot(FRESH)
        rehearsal.add(x, y)
        x_old, y_old = rehearsal.draw(OLD)
        window.append(float(learn(np.concatenate([x, x_old]), np.concatenate([y, y_old]))))
        if step % 10 == 0:
            print(f"[{time.time() - began:6.1f}s] step {step} loss {np.mean(window):.4f}", flush=True)
        if step % 100 == 0:
            score = float(np.mean(classify(x_test).numpy() == y_test))
            model.save_weights(os.path.join(folder, "kelp.weights.h5"))
            print(f"[{time.time() - began:6.1f}s] test accuracy {score:.3f}, weights saved", flush=True)


if __name__ == "__main__":
    main()
