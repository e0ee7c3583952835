# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: a Python generator makes small batches, the weights change only at every fourth step (gradient
# accumulation) and the loss is noisy; but the generator needs a few hundredths of the time that the 3D network
# needs.
"""Find lesions in small volumes of simulated brain scans."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIDE = 24
BATCH = 8
ACCUMULATE = 4


def ellipsoids():
    """A few templates of tissue, made once."""
    z, y, x = np.mgrid[-1:1:SIDE * 1j, -1:1:SIDE * 1j, -1:1:SIDE * 1j]
    shells = []
    for stretch in np.linspace(0.75, 1.0, 6):
        radius = np.sqrt((x / stretch) ** 2 + y ** 2 + (z / 0.9) ** 2)
        shells.append(0.6 * (radius < 0.9) - 0.25 * (radius < 0.55) + 0.1 * np.cos(9 * radius))
    return np.stack(shells).astype("float32")


def scanner(seed=0):
    rng = np.random.default_rng(seed)
    templates = ellipsoids()
    noise = rng.normal(0, 0.12, (64, SIDE, SIDE, SIDE)).astype("float32")
    axis = np.arange(SIDE, dtype="float32")
    while True:
        volumes = templates[rng.integers(0, len(templates), BATCH)] + noise[rng.integers(0, len(noise), BATCH)]
        masks = np.zeros((BATCH, SIDE, SIDE, SIDE), "float32")
        for i in range(BATCH):
            cz, cy, cx = rng.uniform(7, 17, 3)
            size = rng.uniform(2.5, 4.5)
            gz, gy, gx = ((np.abs(axis - c) / size) ** 2 for c in (cz, cy, cx))
            masks[i] = (gz[:, None, None] + gy[None, :, None] + gx[None, None, :]) < 1.0
        yield (volumes + 0.35 * masks)[..., None], masks[..., None]


def network():
    inputs = keras.Input((SIDE, SIDE, SIDE, 1))
    fine = layers.Conv3D(12, 3, padding="same", activation="relu")(inputs)
    coarse = layers.Conv3D(24, 3, strides=2, padding="same", activation="relu")(fine)
    coarse = layers.Conv3D(24, 3, padding="same", activation="relu")(coarse)
    deep = layers.Conv3D(48, 3, strides=2, padding="same", activation="relu")(coarse)
    deep = layers.Conv3D(48, 3, padding="same", activation="relu")(deep)
    up = layers.Concatenate()([layers.UpSampling3D()(deep), coarse])
    up = layers.Conv3D(24, 3, padding="same", activation="relu")(up)
    up = layers.Concatenate()([layers.UpSampling3D()(up), fine])
    return keras.Model(inputs, layers.Conv3D(1, 3, padding="same")(up))


def lesion_loss(masks, logits):
    crossentropy = tf.nn.sigmoid_cross_entropy_with_logits(labels=masks, logits=logits)
    inside = tf.sigmoid(logits)
    overlap = tf.reduce_sum(inside * masks, (1, 2, 3, 4))
    dice = (2 * overlap + 1) / (tf.reduce_sum(inside, (1, 2, 3, 4)) + tf.reduce_sum(masks, (1, 2, 3, 4)) + 1)
    return tf.reduce_mean(crossentropy, (1, 2, 3, 4)) + 1 - dice


class Diary(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.seen, self.sum = 0, 0.0

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.seen % 5 == 0:
            print(f"step {self.seen:5d}  running loss {logs['loss']:.4f}", flush=True)


if __name__ == "__main__":
    keras.utils.set_random_seed(14)
    shape = (BATCH, SIDE, SIDE, SIDE, 1)
    scans = tf.data.Dataset.from_generator(
        scanner, output_signature=(tf.TensorSpec(shape, tf.float32), tf.TensorSpec(shape, tf.float32))
    ).prefetch(4)
    model = network()
    optimizer = keras.optimizers.Adam(2e-3, gradient_accumulation_steps=ACCUMULATE)
    model.compile(optimizer=optimizer, loss=lesion_loss)
    model.fit(scans, steps_per_epoch=40, epochs=200, verbose=0, callbacks=[Diary()])
