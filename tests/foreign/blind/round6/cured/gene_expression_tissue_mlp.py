# python: tensorflow
import os
import tempfile

import keras
import numpy as np

N_GENES = 2048
N_TISSUES = 30
SAMPLES = 9600


def expression_matrix(rng):
    profile = rng.gamma(2.0, 1.0, (N_TISSUES, N_GENES)).astype(np.float32)
    tissue = rng.integers(0, N_TISSUES, SAMPLES)
    counts = profile[tissue]
    counts *= rng.lognormal(0.0, 0.9, (SAMPLES, N_GENES)).astype(np.float32)
    x = np.log1p(counts)
    x -= x.mean(axis=0)
    x /= x.std(axis=0) + 1e-6
    return x, tissue


def classifier():
    return keras.Sequential([
        keras.Input((N_GENES,)),
        keras.layers.Dense(1024, activation="gelu"),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(1024, activation="gelu"),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(512, activation="gelu"),
        keras.layers.Dense(N_TISSUES, activation="softmax"),
    ])


def main():
    rng = np.random.default_rng(11)
    x, y = expression_matrix(rng)
    run_dir = tempfile.mkdtemp(prefix="tissue_run_")

    model = classifier()
    model.compile(
        optimizer=keras.optimizers.Adam(2e-4),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.summary()

    callbacks = [
        keras.callbacks.ModelCheckpoint(
            os.path.join(run_dir, "tissue-{epoch:03d}.keras"),
            save_freq="epoch",
        ),
        keras.callbacks.CSVLogger(os.path.join(run_dir, "log.csv")),
        keras.callbacks.TerminateOnNaN(),
    ]
    model.fit(x, y, batch_size=64, epochs=200, callbacks=callbacks)


if __name__ == "__main__":
    main()
