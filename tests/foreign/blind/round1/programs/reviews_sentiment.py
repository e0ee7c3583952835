# python: tensorflow
# expected: retracing
# verdict: slow
# seconds: 35
# where: train_step(tokens, labels, warm / def train_step(
# Why: the warm-up factor is a Python float given to a tf.function, so every step has a new signature and the graph is traced anew; people compute the schedule in Python and just pass it in.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

VOCAB, LENGTH, BATCH = 4000, 60, 64
WARMUP = 5000
rng = np.random.default_rng(11)


def make_reviews(n):
    polarity = rng.normal(size=VOCAB)
    tokens = rng.zipf(1.3, size=(n, LENGTH)) % VOCAB
    score = polarity[tokens].mean(axis=1)
    return tokens.astype("int32"), (score > np.median(score)).astype("float32")


def build_model():
    inputs = keras.Input((LENGTH,), dtype="int32")
    x = keras.layers.Embedding(VOCAB, 48)(inputs)
    for width in (64, 64, 64):
        y = keras.layers.Conv1D(width, 5, padding="same", activation="gelu")(x)
        x = keras.layers.LayerNormalization()(y)
    x = keras.layers.GlobalAveragePooling1D()(x)
    x = keras.layers.Dense(64, activation="relu")(x)
    return keras.Model(inputs, keras.layers.Dense(1)(x))


model = build_model()
optimizer = keras.optimizers.AdamW(1e-3, weight_decay=1e-4)
optimizer.build(model.trainable_variables)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(tokens, labels, warm):
    with tf.GradientTape() as tape:
        logits = model(tokens, training=True)
        loss = bce(labels[:, None], logits)
    grads = tape.gradient(loss, model.trainable_variables)
    grads = [g * warm if not isinstance(g, tf.IndexedSlices)
             else tf.IndexedSlices(g.values * warm, g.indices, g.dense_shape) for g in grads]
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def main():
    x, y = make_reviews(20000)
    data = (tf.data.Dataset.from_tensor_slices((x, y)).shuffle(20000, seed=1)
            .batch(BATCH, drop_remainder=True).repeat().prefetch(4))
    started = time.time()
    for step, (tokens, labels) in enumerate(data, start=1):
        warm = min(1.0, step / WARMUP)
        loss = train_step(tokens, labels, warm)
        if step % 2 == 0:
            print(f"step {step:5d}  loss {float(loss):.4f}  {time.time() - started:6.1f} s", flush=True)
        if step == 4000:
            break


if __name__ == "__main__":
    main()
