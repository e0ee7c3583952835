# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: the twin without the fault.
"""Which of eight moulds grows on a cheese: spectra of the rind and the conditions in the cellar, a residual MLP."""
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

MOULDS = 8
BANDS = 96


def cellar_samples(count, seed=0):
    rng = np.random.default_rng(seed)
    shelf = np.linspace(0, 1, BANDS)
    labels = rng.integers(0, MOULDS, count)
    centres = np.linspace(0.1, 0.9, MOULDS)[labels][:, None] + rng.normal(0, 0.02, (count, 1))
    spectra = np.exp(-((shelf - centres) / 0.08) ** 2) * rng.uniform(0.5, 1.5, (count, 1))
    spectra += 0.4 * np.exp(-((shelf - rng.uniform(0, 1, (count, 1))) / 0.2) ** 2)
    spectra += rng.normal(0, 0.25, spectra.shape)
    cellar = np.stack([8 + 4 * rng.random(count), 85 + 10 * rng.random(count), rng.exponential(30, count)], 1)
    features = np.concatenate([spectra, cellar], 1)
    features = (features - features.mean(0)) / features.std(0)
    return features.astype("float32"), labels.astype("int32")


def residual(x, width):
    y = layers.Dense(width, activation="relu")(layers.LayerNormalization()(x))
    return layers.Add()([x, layers.Dense(width)(y)])


def rind_model(width=512, blocks=4):
    inputs = keras.Input((BANDS + 3,))
    x = layers.Dense(width)(inputs)
    for _ in range(blocks):
        x = residual(x, width)
    x = layers.Dense(128, activation="relu")(layers.LayerNormalization()(x))
    return keras.Model(inputs, layers.Dense(MOULDS, name="mould")(x))


def main():
    keras.utils.set_random_seed(11)
    features, labels = cellar_samples(24000)
    train = (tf.data.Dataset.from_tensor_slices((features[:22000], labels[:22000]))
             .shuffle(22000, seed=2).batch(128, drop_remainder=True).prefetch(tf.data.AUTOTUNE))
    held = tf.data.Dataset.from_tensor_slices((features[22000:], labels[22000:])).batch(500)

    model = rind_model()
    criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.Adam(5e-4)
    correct = keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            scores = model(x, training=True)
            loss = criterion(y, scores)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    done, since = 0, time.perf_counter()
    for epoch in range(1000):
        for x, y in train:
            loss = step(x, y)
            done += 1
            if done % 20 == 0:
                print(f"epoch {epoch} step {done} loss {float(loss):.4f} ({time.perf_counter() - since:.1f} s)", flush=True)
        correct.reset_state()
        for x, y in held:
            correct.update_state(y, model(x, training=False))
        print(f"epoch {epoch} held-out accuracy {float(correct.result()):.3f}", flush=True)


main()
