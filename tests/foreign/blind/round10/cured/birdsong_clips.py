# python: tensorflow
"""Which of twelve species sings? Clips of different length, as log-mel frames."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SPECIES, MELS = 12, 40
LONGEST = 320
BATCH = 12


def clips():
    rng = np.random.default_rng(2024)
    centres = rng.normal(0, 1, (SPECIES, MELS)).astype(np.float32)
    while True:
        label = rng.integers(SPECIES)
        frames = int(np.clip(rng.gamma(6.0, 22.0), 24, LONGEST))
        rhythm = 0.5 + 0.5 * np.sin(np.arange(frames) * (0.1 + 0.02 * label))[:, None]
        song = centres[label] * rhythm + rng.normal(0, 2.5, (frames, MELS))
        yield song.astype(np.float32), label


def dataset():
    ds = tf.data.Dataset.from_generator(
        clips, output_signature=(tf.TensorSpec((None, MELS), tf.float32), tf.TensorSpec((), tf.int64)))
    ds = ds.padded_batch(BATCH, padded_shapes=([LONGEST, MELS], []))
    return ds.prefetch(tf.data.AUTOTUNE)


class Listener(keras.Model):
    def __init__(self):
        super().__init__()
        self.front = [layers.Conv1D(48, 5, strides=2, padding="same", activation="relu"),
                      layers.Conv1D(64, 3, padding="same", activation="relu")]
        self.pool = layers.GlobalAveragePooling1D()
        self.head = layers.Dense(SPECIES)

    def call(self, x):
        for layer in self.front:
            x = layer(x)
        return self.head(self.pool(x))


model = Listener()
optimizer = keras.optimizers.Adam(1e-3)
criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model(tf.zeros((1, 64, MELS)))
optimizer.build(model.trainable_variables)


@tf.function(jit_compile=True, reduce_retracing=True)
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = criterion(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    hits = tf.reduce_mean(tf.cast(tf.argmax(logits, -1) == y, tf.float32))
    return loss, hits


mean_loss, mean_hits = keras.metrics.Mean(), keras.metrics.Mean()
for step, (x, y) in enumerate(dataset().take(20000), start=1):
    loss, hits = train_step(x, y)
    mean_loss.update_state(loss)
    mean_hits.update_state(hits)
    if step < 50 or step % 10 == 0:
        print(f"step {step:5d}  loss {mean_loss.result():.4f}  accuracy {mean_hits.result():.3f}", flush=True)
    if step % 100 == 0:
        mean_loss.reset_state()
        mean_hits.reset_state()
