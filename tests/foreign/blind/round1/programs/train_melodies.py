# python: tensorflow
# expected: healthy
# verdict: healthy
# how: attach
# seconds: 35
# Why: songs of very different length in buckets make steps of very different duration; one signature with open dimensions, so nothing is traced again, and all the time is the model's.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

NOTES, BATCH = 90, 24
BUCKETS = (40, 80, 160, 320)

model = keras.Sequential([
    keras.Input((None,), dtype="int32"),
    keras.layers.Embedding(NOTES, 64),
    keras.layers.Conv1D(160, 7, padding="causal", activation="relu"),
    keras.layers.Conv1D(160, 7, padding="causal", dilation_rate=2, activation="relu"),
    keras.layers.Conv1D(160, 7, padding="causal", dilation_rate=4, activation="relu"),
    keras.layers.Dense(NOTES),
])
optimizer = keras.optimizers.Adam(5e-4)
optimizer.build(model.trainable_variables)
cross = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)])
def train_step(songs):
    with tf.GradientTape() as tape:
        loss = cross(songs[:, 1:], model(songs[:, :-1], training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def compose(rng, per_bucket=300):
    library = {}
    for length in BUCKETS:
        steps = rng.choice([-4, -2, -1, 0, 1, 2, 4], size=(per_bucket, length))
        start = rng.integers(30, 60, size=(per_bucket, 1))
        library[length] = ((start + np.cumsum(steps, axis=1)) % NOTES).astype("int32")
    return library


def main():
    rng = np.random.default_rng(6)
    library = {k: tf.constant(v) for k, v in compose(rng).items()}
    started = time.time()
    for step in range(1, 5001):
        length = int(rng.choice(BUCKETS, p=[0.5, 0.25, 0.15, 0.1]))
        pick = rng.integers(0, library[length].shape[0], BATCH)
        loss = train_step(tf.gather(library[length], pick))
        if step % 10 == 0:
            print(f"step {step:5d}  length {length:3d}  loss {float(loss):.3f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
