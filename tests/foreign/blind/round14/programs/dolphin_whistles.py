# python: tensorflow
# expected: host-memory-leak
# verdict: slow
# seconds: 30
# how: attach
# where: self.seen.append
# Why: the callback of the embedding statistics keeps the spectrograms' embeddings of every batch that was ever trained, and lets none of them go.
"""Embed dolphin whistles: contrastive pairs of noisy spectrograms, with statistics of the embedding at each epoch's end."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

BINS = 64
FRAMES = 48
BATCH = 32
STEPS = 100


def whistle(contour):
    """A spectrogram with noise around a frequency contour of FRAMES values in 0..1."""
    bins = tf.linspace(0.0, 1.0, BINS)[:, None]
    ridge = tf.exp(-tf.square((bins - contour[None] - tf.random.normal([], 0, 0.01)) / 0.03))
    gaps = tf.cast(tf.random.uniform([1, FRAMES]) > 0.1, tf.float32)
    return (ridge * gaps + tf.random.uniform([BINS, FRAMES], 0, 0.5))[..., None]


def pair(_):
    t = tf.linspace(0.0, 1.0, FRAMES)
    a = tf.random.uniform([4], -1, 1)
    contour = 0.5 + 0.12 * (a[0] + a[1] * tf.cos(6.28 * t) + a[2] * tf.sin(6.28 * t) + a[3] * tf.cos(12.6 * t))
    return whistle(contour), whistle(contour)


class WhistleModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.maps = keras.Sequential([
            layers.Conv2D(32, 5, strides=2, padding="same", activation="relu"),
            layers.Conv2D(64, 3, strides=1, padding="same", activation="relu"),
            layers.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
        ])
        self.project = keras.Sequential([layers.GlobalAveragePooling2D(), layers.Dense(128, activation="relu"), layers.Dense(64)])
        self.loss_mean = keras.metrics.Mean(name="loss")

    def call(self, x, training=False):
        return self.project(self.maps(x, training=training), training=training)

    @property
    def metrics(self):
        return [self.loss_mean]

    def train_step(self, data):
        left, right = data
        with tf.GradientTape() as tape:
            a = ops.normalize(self(left, training=True), axis=-1)
            b = ops.normalize(self(right, training=True), axis=-1)
            scores = ops.matmul(a, ops.transpose(b)) / 0.2
            target = ops.arange(ops.shape(scores)[0])
            loss = ops.mean(keras.losses.sparse_categorical_crossentropy(target, scores, from_logits=True))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        self.loss_mean.update_state(loss)
        return {"loss": self.loss_mean.result()}


class EmbeddingReport(keras.callbacks.Callback):
    """Tells how many directions of the feature maps are in use, by those of the latest batches."""

    def __init__(self, probe, latest=8):
        super().__init__()
        self.probe, self.latest = probe, latest
        self.seen = []

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append(self.model.maps(self.probe, training=False).numpy())

    def on_epoch_end(self, epoch, logs=None):
        maps = np.concatenate(list(self.seen)[-self.latest:]).mean((1, 2))
        spread = np.linalg.svd(maps - maps.mean(0), compute_uv=False) ** 2
        print(f" - directions in use {spread.sum() ** 2 / (spread ** 2).sum():.1f} of {maps.shape[1]}")


if __name__ == "__main__":
    keras.utils.set_random_seed(21)
    pairs = tf.data.Dataset.range(10**9).map(pair, num_parallel_calls=2).batch(BATCH).prefetch(2)
    probe = next(iter(pairs.take(1)))[0][:6]
    model = WhistleModel()
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    model.fit(pairs, steps_per_epoch=STEPS, epochs=1000, callbacks=[EmbeddingReport(probe)])
