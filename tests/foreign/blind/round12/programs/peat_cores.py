# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 35
# Why: a step takes long, because it sums the gradients of four micro-batches of a recurrent net: the model is the work.
"""Reconstruct past water tables from the layers of peat cores; large batches put together from small ones."""
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

LAYERS = 40
TAXA = 24
MICRO = 32
ACCUMULATE = 4
STEPS = 5000


def make_cores(n, seed):
    rng = np.random.default_rng(seed)
    optimum = np.random.default_rng(1).uniform(-2, 2, TAXA)
    walk = np.cumsum(rng.normal(0, 0.18, (n, LAYERS)), 1)
    table = (walk - walk.mean(1, keepdims=True)).clip(-2.5, 2.5)
    abundance = np.exp(-(table[..., None] - optimum) ** 2) + rng.gamma(0.3, 0.3, (n, LAYERS, TAXA))
    return np.log1p(abundance).astype("float32"), table.astype("float32")


def build():
    core = keras.Input((LAYERS, TAXA))
    x = layers.Dense(96, activation="gelu")(core)
    y = layers.Bidirectional(layers.GRU(128, return_sequences=True))(x)
    x = layers.LayerNormalization()(layers.Dense(96)(y) + x)
    return keras.Model(core, layers.Dense(1)(x))


def main():
    keras.utils.set_random_seed(17)
    x, y = make_cores(2000, seed=2)
    model = build()
    rate = keras.optimizers.schedules.CosineDecay(1e-4, STEPS, warmup_target=2e-3, warmup_steps=5)
    optimizer = keras.optimizers.AdamW(rate, weight_decay=1e-4)
    optimizer.build(model.trainable_variables)
    sums = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]

    @tf.function
    def gather(xb, yb):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(xb, training=True)[..., 0] - yb))
        for total, g in zip(sums, tape.gradient(loss, model.trainable_variables)):
            total.assign_add(g / ACCUMULATE)
        return loss

    @tf.function
    def apply():
        grads, _ = tf.clip_by_global_norm([tf.convert_to_tensor(s) for s in sums], 1.0)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        for s in sums:
            s.assign(tf.zeros_like(s))

    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2000).repeat()
    batches = iter(data.batch(MICRO, drop_remainder=True).prefetch(tf.data.AUTOTUNE))
    print("parameters:", model.count_params(), flush=True)
    for step in range(1, STEPS + 1):
        began = time.time()
        loss = sum(float(gather(*next(batches))) for _ in range(ACCUMULATE)) / ACCUMULATE
        apply()
        print(f"step {step}/{STEPS} loss {loss:.4f} ({time.time() - began:.2f} s)", flush=True)
        if step % 50 == 0:
            model.save_weights("/tmp/peat_cores.weights.h5")


if __name__ == "__main__":
    main()
