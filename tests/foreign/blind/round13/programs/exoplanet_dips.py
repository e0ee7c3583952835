# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: the learning rate is restarted again and again, a tenth of the labels is wrong, and validation, a
# checkpoint and TensorBoard come after every epoch; together they take a few hundredths of the time and the loss
# falls.
"""Exoplanets make small dips in the light curves of their stars."""

import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import keras  # noqa: E402
import numpy as np  # noqa: E402

POINTS = 512
FOLDER = os.path.join(tempfile.gettempdir(), "exoplanet_dips")


def observe(stars, rng):
    t = np.linspace(0, 1, POINTS, dtype="float32")
    period = rng.uniform(0.12, 0.3, (stars, 1)).astype("float32")
    phase = rng.uniform(0, 1, (stars, 1)).astype("float32")
    curve = 0.8 * np.sin(2 * np.pi * (t / rng.uniform(0.4, 2, (stars, 1)) + phase)).astype("float32")
    curve += rng.normal(0, 0.5, (stars, POINTS)).astype("float32")
    has_planet = rng.random(stars) < 0.5
    dip = (((t / period + phase) % 1.0) < 0.1).astype("float32")
    curve -= dip * (has_planet[:, None] * rng.uniform(0.8, 1.6, (stars, 1))).astype("float32")
    label = np.where(rng.random(stars) < 0.1, ~has_planet, has_planet)
    return curve[..., None], label.astype("float32")


def residual(x, channels, stride):
    y = keras.layers.Conv1D(channels, 7, strides=stride, padding="same", use_bias=False)(x)
    y = keras.layers.BatchNormalization()(y)
    y = keras.layers.ReLU()(y)
    y = keras.layers.Conv1D(channels, 7, padding="same", use_bias=False)(y)
    y = keras.layers.BatchNormalization()(y)
    return keras.layers.ReLU()(keras.layers.Add()([y, keras.layers.Conv1D(channels, 1, strides=stride)(x)]))


def detector():
    light = keras.Input((POINTS, 1))
    x = light
    for channels, stride in ((32, 2), (48, 2), (64, 2), (96, 2)):
        x = residual(x, channels, stride)
    x = keras.layers.GlobalAveragePooling1D()(x)
    return keras.Model(light, keras.layers.Dense(1, activation="sigmoid")(x))


def main(epochs=120, batch=64):
    keras.utils.set_random_seed(16)
    rng = np.random.default_rng(16)
    train, validation = observe(3200, rng), observe(256, rng)
    print("light curves:", train[0].shape, "with planets:", int(train[1].sum()), flush=True)

    model = detector()
    restarts = keras.optimizers.schedules.CosineDecayRestarts(0.03, first_decay_steps=60, t_mul=1.0, m_mul=0.97)
    model.compile(optimizer=keras.optimizers.SGD(restarts, momentum=0.9, nesterov=True),
                  loss="binary_crossentropy", metrics=["accuracy"])
    model.fit(
        *train, batch_size=batch, epochs=epochs, validation_data=validation,
        callbacks=[
            keras.callbacks.ModelCheckpoint(os.path.join(FOLDER, "best.weights.h5"), save_best_only=True,
                                            save_weights_only=True, monitor="val_accuracy", mode="max"),
            keras.callbacks.TensorBoard(os.path.join(FOLDER, "board"), write_graph=False),
            keras.callbacks.TerminateOnNaN(),
        ],
    )


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    main()
