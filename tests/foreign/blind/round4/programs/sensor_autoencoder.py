# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: Looks suspicious because validation takes a good part of each epoch, output is one line per epoch and the loss has converged; all of it is meant so.
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np

CHANNELS, LENGTH = 8, 128


def recordings(count, seed):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, LENGTH, dtype=np.float32)
    freq = rng.uniform(2, 9, (count, 1, CHANNELS)).astype(np.float32)
    phase = rng.uniform(0, 6.28, (count, 1, CHANNELS)).astype(np.float32)
    x = np.sin(6.28 * freq * t[None, :, None] + phase)
    return x + 0.05 * rng.standard_normal(x.shape).astype(np.float32)


def build():
    inputs = keras.Input((LENGTH, CHANNELS))
    h = keras.layers.Conv1D(48, 7, strides=2, padding="same", activation="relu")(inputs)
    h = keras.layers.Conv1D(64, 7, strides=2, padding="same", activation="relu")(h)
    h = keras.layers.Conv1D(16, 3, padding="same")(h)
    h = keras.layers.Conv1DTranspose(64, 7, strides=2, padding="same", activation="relu")(h)
    h = keras.layers.Conv1DTranspose(48, 7, strides=2, padding="same", activation="relu")(h)
    return keras.Model(inputs, keras.layers.Conv1D(CHANNELS, 3, padding="same")(h))


def main():
    train, held_out = recordings(4096, 0), recordings(4096, 1)
    model = build()
    model.compile(keras.optimizers.Adam(1e-3), "mse")
    with tempfile.TemporaryDirectory() as folder:
        keep = keras.callbacks.ModelCheckpoint(
            os.path.join(folder, "best.weights.h5"),
            save_best_only=True,
            save_weights_only=True,
            monitor="val_loss",
        )
        model.fit(
            train, train,
            validation_data=(held_out, held_out),
            batch_size=64,
            epochs=300,
            verbose=2,
            callbacks=[keep],
        )


if __name__ == "__main__":
    main()
