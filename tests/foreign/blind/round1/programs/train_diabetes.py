# python: tensorflow
# expected: loss-output-mismatch [also accepted: loss-frozen, weights-not-updated, gradient-not-connected, learning-rate]
# verdict: healthy|slow|stuck
# seconds: 30
# where: activation="softmax" / Dense(1
# Why: a softmax over a single unit is always 1, so the loss never moves; people turn a ten-class example into a yes/no one by changing only the number of units.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import keras
from keras import layers

N, FEATURES = 24000, 24


def make_patients():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(N, FEATURES)).astype("float32")
    risk = x[:, 0] * 1.5 + x[:, 3] * x[:, 4] - 0.8 * x[:, 7] + rng.normal(0, 0.5, N)
    y = (risk > 0.3).astype("float32")
    return (x[:20000], y[:20000]), (x[20000:], y[20000:])


def build_model():
    inputs = keras.Input((FEATURES,))
    x = layers.Dense(256, activation="relu")(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.Dense(256, activation="relu")(x)
    x = layers.Dropout(0.2)(x)
    x = layers.Dense(64, activation="relu")(x)
    outputs = layers.Dense(1, activation="softmax")(x)
    return keras.Model(inputs, outputs)


def main():
    keras.utils.set_random_seed(1)
    train, holdout = make_patients()
    model = build_model()
    model.compile(optimizer=keras.optimizers.Adam(1e-3),
                  loss=keras.losses.MeanSquaredError(name="brier"), metrics=["accuracy"])
    model.summary()
    model.fit(*train, batch_size=128, epochs=200, validation_data=holdout, verbose=2)


if __name__ == "__main__":
    main()
