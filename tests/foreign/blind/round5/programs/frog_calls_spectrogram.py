# python: tensorflow
# expected: shuffle-fill
# verdict: not-started|slow
# seconds: 30
# where: .shuffle( / model.fit
# Why: the shuffle buffer of 45000 stands behind the spectrograms, so all of them are computed before the first batch.
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import numpy as np
import tensorflow as tf

RATE = 8000
CLASSES = 5
CLIPS = 45_000


def recordings(minutes=4):
    rng = np.random.default_rng(0)
    n = RATE * 60 * minutes
    t = np.arange(n) / RATE
    audio = 0.1 * rng.standard_normal(n)
    species = (t // 6).astype(int) % CLASSES
    carrier = 500.0 + 450.0 * species
    audio += np.sin(2 * np.pi * carrier * t) * (np.sin(2 * np.pi * 5 * t) > 0)
    return audio.astype("float32"), species.astype("int32")


audio, species = recordings()
audio_t, species_t = tf.constant(audio), tf.constant(species)
mel = tf.signal.linear_to_mel_weight_matrix(24, 513, RATE, 80.0, 3800.0)


def to_spectrogram(start):
    clip = audio_t[start:start + 3 * RATE]
    label = species_t[start + RATE]
    clip = clip + tf.random.normal(tf.shape(clip), stddev=0.02)
    power = tf.abs(tf.signal.stft(clip, 1024, 256)) ** 2
    logmel = tf.math.log(tf.matmul(power, mel) + 1e-5)
    logmel = (logmel - tf.reduce_mean(logmel)) / (tf.math.reduce_std(logmel) + 1e-5)
    return tf.ensure_shape(logmel, (90, 24))[..., None], label


def dataset():
    starts = np.random.default_rng(1).integers(0, len(audio) - 4 * RATE, CLIPS)
    ds = tf.data.Dataset.from_tensor_slices(starts)
    ds = ds.map(to_spectrogram, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.shuffle(CLIPS)
    return ds.batch(32).prefetch(tf.data.AUTOTUNE)


model = tf.keras.Sequential([
    tf.keras.Input((90, 24, 1)),
    tf.keras.layers.Conv2D(24, 3, activation="relu"),
    tf.keras.layers.MaxPool2D(),
    tf.keras.layers.Conv2D(48, 3, activation="relu"),
    tf.keras.layers.MaxPool2D(),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(CLASSES),
])
model.compile(
    optimizer=tf.keras.optimizers.Adam(3e-4),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
print("clips:", CLIPS, "classes:", CLASSES, flush=True)
model.fit(dataset(), epochs=50)
