# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: two workers stand in queue.put nearly all the time, as the queue is full: they are faster than the model, which uses both cores.
"""Range bats by their echoes. Two worker processes mix the recordings, the main process trains."""
import multiprocessing as mp
import os
import time

import numpy as np

SAMPLES = 512
BATCH = 48
STEPS = 40_000
WORKERS = 2


def mix(queue, seed):
    """Chirp, echo and noise, batch by batch, until the trainer is gone."""
    rng = np.random.default_rng(seed)
    clock = np.arange(SAMPLES)
    chirp = np.sin(0.004 * np.arange(96) ** 2) * np.hanning(96)
    while True:
        late = rng.integers(100, 400, BATCH)
        waves = 0.25 * rng.standard_normal((BATCH, SAMPLES))
        waves[:, :96] += chirp
        for row, start in enumerate(late):
            waves[row, start:start + 96] += rng.uniform(0.4, 1.0) * chirp
        waves *= 1.0 + 0.1 * np.sin(clock / 40.0)
        queue.put((waves[..., None].astype("float32"), (late[:, None] / SAMPLES).astype("float32")))


def train(queue):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(31)
    layers = [keras.layers.Input((SAMPLES, 1))]
    for width in (32, 48, 64, 96):
        layers += [keras.layers.Conv1D(width, 9, padding="same", activation="relu"),
                   keras.layers.Conv1D(width, 9, padding="same", activation="relu"), keras.layers.MaxPooling1D(2)]
    layers += [keras.layers.Flatten(), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    optimizer = keras.optimizers.Adam(5e-4)
    huber = keras.losses.Huber(0.1)

    @tf.function(reduce_retracing=True)
    def update(waves, ranges):
        with tf.GradientTape() as tape:
            loss = huber(ranges, model(waves, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    began, smooth = time.time(), None
    for step in range(1, STEPS + 1):
        waves, ranges = queue.get()
        loss = float(update(tf.constant(waves), tf.constant(ranges)))
        smooth = loss if smooth is None else 0.95 * smooth + 0.05 * loss
        if step % 5 == 0:
            print(f"[{time.time() - began:6.1f} s] step {step} loss {1000.0 * smooth:.3f}e-3", flush=True)
    model.save("bats.keras")


def main():
    context = mp.get_context("spawn")
    queue = context.Queue(maxsize=6)
    workers = [context.Process(target=mix, args=(queue, seed), daemon=True) for seed in range(WORKERS)]
    for worker in workers:
        worker.start()
    try:
        train(queue)
    finally:
        for worker in workers:
            worker.terminate()


if __name__ == "__main__":
    main()
