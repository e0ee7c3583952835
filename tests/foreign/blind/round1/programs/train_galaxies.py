# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 45
# Why: XLA takes a long time for the first step of this deep network and then the steps run evenly; the long silence at the beginning makes people kill it.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import time

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIDE, CLASSES, BATCH = 32, 5, 48


class StepClock(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.start = time.time()
        self.count = 0

    def on_train_batch_end(self, batch, logs=None):
        self.count += 1
        if self.count % 5 == 1:
            print(f"step {self.count:5d}  loss {logs['loss']:.4f}  at {time.time() - self.start:.1f} s", flush=True)


def make_galaxies(n):
    rng = np.random.default_rng(3)
    kind = rng.integers(0, CLASSES, n)
    yy, xx = np.mgrid[-1:1:SIDE * 1j, -1:1:SIDE * 1j]
    r, phi = np.hypot(xx, yy), np.arctan2(yy, xx)
    arms = np.cos(kind[:, None, None] * (phi + 3 * r)[None]) * np.exp(-3 * r)[None]
    pictures = arms + rng.normal(0, 0.25, (n, SIDE, SIDE))
    return pictures[..., None].astype("float32"), kind


def build_model(blocks=8):
    inputs = keras.Input((SIDE, SIDE, 1))
    x = layers.Conv2D(24, 3, strides=2, padding="same")(inputs)
    for _ in range(blocks):
        y = layers.LayerNormalization()(x)
        y = layers.Conv2D(24, 3, padding="same", activation="gelu")(y)
        y = layers.Conv2D(24, 3, padding="same")(y)
        x = layers.add([x, y])
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, layers.Dense(CLASSES)(x))


def main():
    pictures, kind = make_galaxies(BATCH * 100)
    model = build_model()
    model.compile(optimizer=keras.optimizers.AdamW(1e-3), jit_compile=True,
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    data = (tf.data.Dataset.from_tensor_slices((pictures, kind)).shuffle(len(kind)).repeat()
            .batch(BATCH, drop_remainder=True).prefetch(4))
    model.fit(data, steps_per_epoch=2000, epochs=10, verbose=0, callbacks=[StepClock()])


if __name__ == "__main__":
    main()
