"""Which of 12 seabirds is calling: a 1-D convnet on mel frames."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import keras
from keras import layers

BIRDS = 12
FRAMES, MELS = 64, 32


def make_calls(n, seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, BIRDS, n)
    t = np.arange(FRAMES)[None, :, None]
    f = np.arange(MELS)[None, None, :]
    centre = 3 + 2.2 * label[:, None, None] + 2.0 * np.sin(t / (3.0 + label[:, None, None] / 3))
    call = np.exp(-0.5 * ((f - centre) / 1.5) ** 2)
    x = call + rng.normal(0, 0.4, call.shape)
    return x.astype("float32"), label.astype("int32")


def conv_block(z, filters):
    z = layers.Conv1D(filters, 5, padding="same", use_bias=False)(z)
    z = layers.BatchNormalization()(z)
    z = layers.ReLU()(z)
    return layers.MaxPooling1D(2)(z)


def build_model():
    inputs = keras.Input((FRAMES, MELS))
    z = inputs
    for filters in (48, 64, 96):
        z = conv_block(z, filters)
    z = layers.GlobalAveragePooling1D()(z)
    z = layers.Dropout(0.2)(z)
    outputs = layers.Dense(BIRDS, name="bird")(z)
    return keras.Model(inputs, outputs, name="seabirds")


if __name__ == "__main__":
    keras.utils.set_random_seed(21)
    x_train, y_train = make_calls(6000, 1)
    x_val, y_val = make_calls(600, 2)
    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        x_train, y_train,
        validation_data=(x_val, y_val),
        batch_size=64,
        epochs=150,
        verbose=2,
    )
