# python: tensorflow
# expected: shuffle-fill [also accepted: input-bound, preprocessing-before-fit]
# verdict: slow|stuck|not-started
# seconds: 35
# where: .shuffle(
# Why: The shuffle stands behind the spectrogram map with a buffer as large as the data set, so nearly all clips are computed before the first batch comes out. People copy shuffle(len(data)) to the end of the chain.
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
import numpy as np
import tensorflow as tf

RATE = 16000
CLIPS = 40000
CLASSES = 12
BATCH = 64

mel_matrix = tf.signal.linear_to_mel_weight_matrix(40, 513, RATE, 60.0, 7600.0)


def synthesize(index):
    """One clip: a tone per class with harmonics, noise and a random start."""
    label = tf.cast(index % CLASSES, tf.int32)
    seed = tf.stack([tf.cast(index, tf.int32), 17])
    t = tf.range(RATE * 2, dtype=tf.float32) / RATE
    pitch = 120.0 + 45.0 * tf.cast(label, tf.float32)
    shift = tf.random.stateless_uniform([], seed) * 6.28
    wave = tf.sin(6.2832 * pitch * t + shift)
    for k in (2.0, 3.0, 5.0):
        wave += tf.sin(6.2832 * pitch * k * t) / k
    wave += 0.4 * tf.random.stateless_normal(tf.shape(t), seed)
    return wave, label


def log_mel(wave, label):
    frames = tf.signal.stft(wave, frame_length=1024, frame_step=80, fft_length=1024)
    power = tf.square(tf.abs(frames))
    mel = tf.tensordot(power, mel_matrix, 1)
    mel = tf.math.log(mel + 1e-5)[::8]
    return (mel - tf.reduce_mean(mel)) / (tf.math.reduce_std(mel) + 1e-5), label


def pipeline():
    ds = tf.data.Dataset.range(CLIPS)
    ds = ds.map(synthesize, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.map(log_mel, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.shuffle(CLIPS)
    ds = ds.batch(BATCH, drop_remainder=True)
    return ds.prefetch(tf.data.AUTOTUNE)


def build(shape):
    return tf.keras.Sequential([
        tf.keras.Input(shape),
        tf.keras.layers.Conv1D(48, 5, activation="relu"),
        tf.keras.layers.MaxPool1D(2),
        tf.keras.layers.Conv1D(64, 5, activation="relu"),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(CLASSES),
    ])


class Report(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 5 == 0:
            print(f"step {batch} loss {logs['loss']:.4f}", flush=True)


if __name__ == "__main__":
    train = pipeline()
    model = build(train.element_spec[0].shape[1:])
    model.compile(
        optimizer="adam",
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    print("parameters:", model.count_params(), flush=True)
    model.fit(train, epochs=5, verbose=0, callbacks=[Report()])
