# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# Why: reading and casting the raw 16-bit windows takes about a millisecond a batch, without any
# prefetch; the dilated convolutions over 4096 samples take hundreds.
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

WINDOW = 4096
BYTES = 2 * (WINDOW + 1)
RAW = os.path.join(tempfile.gettempdir(), "bearing_noise.i16")
PARTS = ["inner race", "outer race", "ball", "cage"]


def record(n=600):
    if os.path.exists(RAW) and os.path.getsize(RAW) == n * BYTES:
        return
    rng = np.random.default_rng(88)
    t = np.arange(WINDOW) / 12000.0
    with open(RAW, "wb") as f:
        for i in range(n):
            k = i % len(PARTS)
            hits = (np.sin(2 * np.pi * (90 + 35 * k) * t + rng.uniform(0, 6)) > 0.97) * rng.normal(0, 1, WINDOW)
            hum = 0.3 * np.sin(2 * np.pi * 30 * t)
            x = (3000 * (hits + hum + 0.1 * rng.normal(0, 1, WINDOW))).clip(-32000, 32000)
            f.write(np.concatenate([[k], x]).astype("<i2").tobytes())


def decode(record_bytes):
    values = tf.io.decode_raw(record_bytes, tf.int16, little_endian=True)
    signal = tf.cast(values[1:], tf.float32) / 3000.0
    signal = signal * tf.random.uniform([], 0.8, 1.2)
    return signal[:, None], tf.cast(values[0], tf.int32)


def dilated_stack(filters=72):
    x = inp = tf.keras.Input((WINDOW, 1))
    x = layers.Conv1D(filters, 16, strides=4, padding="same", activation="relu")(x)
    for rate in (1, 2, 4, 8):
        y = layers.Conv1D(filters, 5, padding="causal", dilation_rate=rate, activation="relu")(x)
        y = layers.Conv1D(filters, 1)(y)
        x = layers.Add()([x, y])
    x = layers.GlobalMaxPooling1D()(x)
    return tf.keras.Model(inp, layers.Dense(len(PARTS))(x))


record()
windows = tf.data.FixedLengthRecordDataset(RAW, BYTES)
windows = windows.repeat().map(decode).shuffle(128).batch(32)

model = dilated_stack()
model.compile(
    optimizer=tf.keras.optimizers.Nadam(1e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["sparse_categorical_accuracy"],
)
model.summary(line_length=90)
model.fit(windows, steps_per_epoch=25, epochs=50,
          callbacks=[tf.keras.callbacks.TerminateOnNaN()])
