# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: two spawned processes make particle clouds and sit idle most of the time in front of a full queue, and the trainer takes its
#      batches through a queue from Python; but a batch is always ready, and the train step takes the time.
"""Sediment transport: learn the settling flux of particle clouds that producer processes simulate."""
import multiprocessing as mp
import os
import queue

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np

PARTICLES, BATCH, PRODUCERS = 96, 32, 2


def produce(seed, out, stop):
    rng = np.random.default_rng(seed)
    while not stop.is_set():
        grain = rng.gamma(2.0, 0.5, (BATCH, PARTICLES, 1))
        height = rng.uniform(0, 1, (BATCH, PARTICLES, 1))
        drift = rng.normal(0, 1, (BATCH, PARTICLES, 2))
        crowd = np.exp(-4 * np.abs(height - height.mean(axis=1, keepdims=True)))
        flux = (grain ** 2 * (1 - 0.6 * crowd) * np.exp(-height)).mean(axis=(1, 2))
        cloud = np.concatenate([grain, height, drift], axis=-1).astype(np.float32)
        while not stop.is_set():
            try:
                out.put((cloud, flux.astype(np.float32)), timeout=1.0)
                break
            except queue.Full:
                continue


def build(keras):
    layers = keras.layers
    cloud = keras.Input((PARTICLES, 4))
    x = layers.Dense(96, activation="relu")(cloud)
    for _ in range(2):
        y = layers.MultiHeadAttention(4, 24)(layers.LayerNormalization()(x), layers.LayerNormalization()(x))
        x = layers.Add()([x, y])
        y = layers.Dense(192, activation="relu")(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Dense(96)(y)])
    x = layers.GlobalAveragePooling1D()(x)
    return keras.Model(cloud, layers.Dense(1)(x))


def main():
    context = mp.get_context("spawn")
    shelf, stop = context.Queue(maxsize=6), context.Event()
    crew = [context.Process(target=produce, args=(seed, shelf, stop), daemon=True) for seed in range(PRODUCERS)]
    for member in crew:
        member.start()

    import tensorflow as tf
    import keras
    model = build(keras)
    optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)

    @tf.function
    def train_step(cloud, flux):
        with tf.GradientTape() as tape:
            guess = model(cloud, training=True)[:, 0]
            loss = tf.reduce_mean(tf.square(guess - flux))
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    running = None
    try:
        for step in range(1, 15001):
            cloud, flux = shelf.get(timeout=60)
            loss = float(train_step(tf.convert_to_tensor(cloud), tf.convert_to_tensor(flux)))
            running = loss if running is None else 0.95 * running + 0.05 * loss
            if step % 5 == 0:
                print(f"step {step} loss {running:.5f} queue {shelf.qsize()}", flush=True)
    finally:
        stop.set()
        for member in crew:
            member.join(timeout=5)


if __name__ == "__main__":
    main()
