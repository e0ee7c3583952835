# python: tensorflow
# expected: loss-output-mismatch
# verdict: stuck|slow
# seconds: 30
# where: binary_crossentropy / np.where
# Why: the labels are -1 and +1 (as in LIBSVM files) where a sigmoid with binary cross-entropy wants 0 and 1: the loss turns negative and runs away below zero.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
from keras import layers

rng = np.random.default_rng(17)


def make_loans(n=50000):
    income = rng.lognormal(10.3, 0.5, n)
    amount = rng.lognormal(9.2, 0.8, n)
    term = rng.choice([12, 24, 36, 60], n)
    age = rng.integers(19, 75, n)
    late = rng.poisson(0.7, n)
    grade = rng.integers(0, 7, n)
    risk = amount / income * 12 / term * 3 + 0.6 * late + 0.25 * grade - 0.01 * age - 2.0
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), 1.0, 0.0).astype("float32")
    numeric = np.stack([np.log(income), np.log(amount), term, age, late], 1)
    numeric = (numeric - numeric.mean(0)) / numeric.std(0)
    return numeric.astype("float32"), grade.astype("int32"), y


def build():
    numeric = keras.Input((5,), name="numeric")
    grade = keras.Input((), dtype="int32", name="grade")
    g = layers.Embedding(7, 4)(grade)
    h = layers.Concatenate()([numeric, g])
    h = layers.Dense(128, activation="relu")(h)
    h = layers.Dropout(0.1)(h)
    h = layers.Dense(64, activation="relu")(h)
    out = layers.Dense(1, activation="sigmoid")(h)
    model = keras.Model([numeric, grade], out)
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="binary_crossentropy",
        metrics=["accuracy"])
    return model


def main():
    numeric, grade, y = make_loans()
    cut = int(len(y) * 0.9)
    model = build()
    model.summary()
    model.fit(
        [numeric[:cut], grade[:cut]], y[:cut],
        validation_data=([numeric[cut:], grade[cut:]], y[cut:]),
        batch_size=128, epochs=100, verbose=2)


if __name__ == "__main__":
    main()
