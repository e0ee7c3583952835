"""Tell four kinds of whale calls apart by their spectrograms (synthetic hydrophone clips)."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

CLIPS = 60_000
RATE = 8000
SECONDS = 6
BATCH = 64
CLASSES = 4

keras.utils.set_random_seed(11)
TIMES = tf.constant(np.arange(RATE * SECONDS) / RATE, tf.float32)
MEL = tf.signal.linear_to_mel_weight_matrix(32, 257, RATE, 60.0, 3600.0)


def synthesize(seed, label):
    """A sweep whose direction and curvature depend on the species, in the noise of the sea."""
    pair = tf.stack([seed, label])
    start = tf.random.stateless_uniform([], pair, 200.0, 900.0)
    kind = tf.cast(label, tf.float32)
    drift = 140.0 * (kind - 1.5) * TIMES + 60.0 * tf.sin(2.0 * np.pi * (0.3 + 0.2 * kind) * TIMES)
    phase = 2.0 * np.pi * tf.cumsum((start + drift) / RATE)
    noise = tf.random.stateless_normal([RATE * SECONDS], pair + 7)
    return 0.5 * tf.sin(phase) + 0.8 * noise


def spectrogram(seed, label):
    wave = synthesize(seed, label)
    magnitude = tf.abs(tf.signal.stft(wave, 512, 256, 512))
    mel = tf.math.log1p(tf.matmul(magnitude, MEL))
    picture = tf.image.resize(mel[..., None], [32, 32])
    picture = tf.image.per_image_standardization(picture)
    return tf.ensure_shape(picture, [32, 32, 1]), label


def clips():
    seeds = np.arange(CLIPS, dtype=np.int32)
    labels = (seeds * 7 % CLASSES).astype(np.int32)
    data = tf.data.Dataset.from_tensor_slices((seeds, labels))
    data = data.shuffle(CLIPS, reshuffle_each_iteration=True)
    data = data.map(spectrogram, num_parallel_calls=tf.data.AUTOTUNE)
    return data.batch(BATCH, drop_remainder=True).prefetch(2)


def build():
    return keras.Sequential([
        keras.layers.Input((32, 32, 1)),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.Conv2D(64, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(64, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(128, 3, padding="same", activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(CLASSES),
    ])


def main():
    model = build()
    model.compile(optimizer=keras.optimizers.Adam(1e-3),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.summary()
    print(f"training on {CLIPS} clips of {SECONDS} s", flush=True)
    model.fit(clips(), epochs=20)
    model.save("whale_calls.keras")


if __name__ == "__main__":
    main()
