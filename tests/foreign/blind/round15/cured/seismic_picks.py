"""Pick P-wave arrivals. A small reader process streams the traces, so that its parsing does not share Python's lock with training."""
import logging
import os
import subprocess
import sys
import time

import numpy as np

TRACE = 256
BATCH = 32
BYTES = BATCH * (TRACE + 1) * 4
STEPS = 50_000


def stream():
    """The reader: makes records (as if from a station's archive) and writes them to standard output."""
    logging.basicConfig(format="%(asctime)s %(levelname)s reader: %(message)s", level=logging.INFO)
    rng = np.random.default_rng(1)
    out, time_axis, number = sys.stdout.buffer, np.arange(TRACE), 0
    while True:
        records = np.empty((BATCH, TRACE + 1), "<f4")
        for row in range(BATCH):
            onset = rng.integers(40, 216)
            trace = rng.standard_normal(TRACE) * 0.4
            tail = time_axis - onset
            wave = np.where(tail > 0, np.exp(-np.maximum(tail, 0) / 40.0) * np.sin(tail * 0.6), 0.0)
            trace += rng.uniform(1.0, 3.0) * wave
            records[row, :TRACE], records[row, TRACE] = trace / trace.std(), onset / TRACE
            number += 1
            if number % 4 == 0:
                logging.info("station K%02d record %06d onset %3d ok", number % 37, number, onset)
        out.write(records.tobytes())
        out.flush()


def open_source():
    return subprocess.Popen([sys.executable, os.path.abspath(__file__), "--stream"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def train():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(4)
    model = keras.Sequential([
        keras.layers.Input((TRACE, 1)),
        keras.layers.Conv1D(32, 9, padding="same", activation="relu"),
        keras.layers.MaxPooling1D(2),
        keras.layers.Conv1D(64, 9, padding="same", activation="relu"),
        keras.layers.MaxPooling1D(2),
        keras.layers.Conv1D(64, 9, padding="same", activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1),
    ])
    optimizer = keras.optimizers.Adam(1e-3)

    @tf.function
    def step_on(traces, onsets):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(model(traces, training=True) - onsets))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    source = open_source()
    began = time.time()
    for step in range(1, STEPS + 1):
        raw = source.stdout.read(BYTES)
        if len(raw) < BYTES:
            raise RuntimeError(f"reader ended with {source.wait()}")
        records = np.frombuffer(raw, "<f4").reshape(BATCH, TRACE + 1)
        loss = step_on(tf.constant(records[:, :TRACE, None]), tf.constant(records[:, TRACE:]))
        if step % 4 == 0:
            print(f"step {step} mae {float(loss) * TRACE:.2f} samples, {step / (time.time() - began):.1f} it/s", flush=True)
    source.kill()
    model.save("picker.keras")


if __name__ == "__main__":
    stream() if "--stream" in sys.argv else train()
