# python: tensorflow
# expected: slow-callback
# verdict: slow
# seconds: 30
# where: save_freq=2
# Why: save_freq counts batches, not epochs: the whole model with its optimizer is written to disk every second batch.
"""Denoise scanned knitting charts with a small autoencoder."""
import os
import tempfile

import keras
import numpy as np
from keras import layers

SIZE = 40
EPOCHS = 400
OUT = os.path.join(tempfile.gettempdir(), "knitting_charts")


def chart(rng):
    """A repeat of stitches, tiled over the chart."""
    h, w = rng.integers(4, 11, 2)
    tile = rng.integers(0, 2, (h, w))
    reps = (SIZE // h + 1, SIZE // w + 1)
    return np.tile(tile, reps)[:SIZE, :SIZE]


def make_scans(n, seed):
    rng = np.random.default_rng(seed)
    clean = np.stack([chart(rng) for _ in range(n)]).astype("float32")[..., None]
    stained = clean + rng.normal(0, 0.6, clean.shape).astype("float32")
    stained *= rng.uniform(0.6, 1.0, (n, 1, 1, 1)).astype("float32")
    return stained, clean


def build():
    scan = keras.Input((SIZE, SIZE, 1))
    x = layers.Conv2D(16, 3, padding="same", activation="relu")(scan)
    skip = x
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
    x = layers.Flatten()(x)
    x = layers.Dense(320, activation="relu")(x)
    x = layers.Dense(20 * 20 * 8, activation="relu")(x)
    x = layers.Reshape((20, 20, 8))(x)
    x = layers.UpSampling2D()(x)
    x = layers.Concatenate()([x, skip])
    x = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
    stitches = layers.Conv2D(1, 1, activation="sigmoid")(x)
    return keras.Model(scan, stitches, name="charts")


def tell(batch, logs):
    if batch % 5 == 4:
        print(f"  batch {batch + 1}: loss {logs['loss']:.4f}", flush=True)


def main():
    keras.utils.set_random_seed(11)
    os.makedirs(OUT, exist_ok=True)
    x, y = make_scans(3200, seed=3)
    xv, yv = make_scans(200, seed=4)
    model = build()
    model.summary()
    model.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy", metrics=["binary_accuracy"])
    callbacks = [
        keras.callbacks.ModelCheckpoint(os.path.join(OUT, "charts.keras"), save_freq=2),
        keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=8, factor=0.5),
        keras.callbacks.LambdaCallback(on_train_batch_end=tell),
    ]
    model.fit(x, y, batch_size=16, epochs=EPOCHS, verbose=2, validation_data=(xv, yv), callbacks=callbacks)
    print("mean stitch error", float(np.mean(np.abs(model.predict(xv) - yv))))


if __name__ == "__main__":
    main()
