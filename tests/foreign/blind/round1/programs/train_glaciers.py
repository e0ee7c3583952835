# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 45
# Why: the validation set is several times larger than the training set, on purpose (ten years of pictures), so each epoch is followed by a long pause in training; it says so and moves on.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import keras
from keras import layers

SIDE, BATCH = 40, 64


def make_tiles(n, seed):
    rng = np.random.default_rng(seed)
    ice = rng.uniform(0, 1, n).astype("float32")
    rows = np.linspace(0, 1, SIDE, dtype="float32")[None, :, None, None]
    tiles = (rows < ice[:, None, None, None]).astype("float32")
    tiles = np.repeat(np.repeat(tiles, SIDE, axis=2), 3, axis=3)
    tiles += rng.normal(0, 0.3, tiles.shape).astype("float32")
    return tiles, ice


def build_model():
    return keras.Sequential([
        keras.Input((SIDE, SIDE, 3)),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])


class Announce(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        print(f"epoch {epoch + 1}: training on this year's tiles", flush=True)

    def on_test_begin(self, logs=None):
        print("evaluating on the archive 2010-2020", flush=True)


def main():
    train = make_tiles(2000, 1)
    archive = make_tiles(9000, 2)
    model = build_model()
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    model.fit(*train, batch_size=BATCH, epochs=60, validation_data=archive,
              validation_batch_size=128, verbose=2, callbacks=[Announce()])


if __name__ == "__main__":
    main()
