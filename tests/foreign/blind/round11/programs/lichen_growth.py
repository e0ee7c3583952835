# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: weights move only every fourth micro-batch and the learning rate jumps up at each restart, so losses go up and down; they come down over all.
"""Growth stage of lichen patches; gradients are accumulated over four micro-batches."""
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

STAGES, SIDE, MICRO, ACCUMULATE = 6, 32, 48, 4


def patches(n, seed=2):
    rng = np.random.default_rng(seed)
    stage = rng.integers(0, STAGES, n)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] - SIDE / 2
    r = np.sqrt(xx ** 2 + yy ** 2)[None]
    radius = 3 + 2 * stage[:, None, None] + rng.normal(0, 0.5, (n, 1, 1))
    ring = np.exp(-((r - radius) / 2) ** 2)
    x = ring[..., None] + rng.normal(0, 0.5, (n, SIDE, SIDE, 3))
    return x.astype("float32"), stage


model = keras.Sequential([
    keras.Input((SIDE, SIDE, 3)),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.Conv2D(48, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(64, 3, padding="same", activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(STAGES),
])
schedule = keras.optimizers.schedules.CosineDecayRestarts(2e-3, first_decay_steps=60, t_mul=1.0, m_mul=0.9)
optimizer = keras.optimizers.Adam(schedule)
optimizer.build(model.trainable_variables)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    for total, g in zip(sums, tape.gradient(loss, model.trainable_variables)):
        total.assign_add(g / ACCUMULATE)
    return loss


@tf.function
def apply_sums():
    optimizer.apply_gradients(zip([s.read_value() for s in sums], model.trainable_variables))
    for s in sums:
        s.assign(tf.zeros_like(s))


def main():
    x, y = patches(4000)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4000).repeat()
    ds = ds.batch(MICRO, drop_remainder=True).prefetch(4)
    update, window, began = 0, [], time.time()
    for i, (bx, by) in enumerate(ds.take(100000)):
        window.append(micro_step(bx, by))
        if (i + 1) % ACCUMULATE == 0:
            apply_sums()
            update += 1
            if update % 5 == 0:
                print(f"update {update} loss {float(tf.add_n(window)) / len(window):.4f} "
                      f"[{time.time() - began:.1f}s]", flush=True)
                window = []


if __name__ == "__main__":
    main()
