# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: looks suspicious because each epoch trains for some seconds and then validates for several more on a hold-out set half as large, during which no training step is made; both are honest work.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIDE, GRADES = 64, 5
rng = np.random.default_rng(4)


def make_fundus(n):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE - 0.5
    disc = (xx ** 2 + yy ** 2 < 0.2).astype("float32")
    x = np.repeat(disc[None, :, :, None], n, 0) * 0.5
    y = rng.integers(0, GRADES, n)
    for i in range(n):
        for _ in range(3 * y[i]):
            r, c = rng.integers(8, SIDE - 10, 2)
            x[i, r:r + 3, c:c + 3, 0] += 0.4
    x = x + 0.05 * rng.normal(size=x.shape)
    return x.astype("float32"), y.astype("int32")


def pipeline(x, y, shuffle):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if shuffle:
        ds = ds.shuffle(len(x))
    return ds.batch(64).prefetch(tf.data.AUTOTUNE)


def block(h, width):
    h = layers.Conv2D(width, 3, padding="same", use_bias=False)(h)
    h = layers.BatchNormalization()(h)
    h = layers.Activation("relu")(h)
    h = layers.Conv2D(width, 3, padding="same", activation="relu")(h)
    return layers.MaxPooling2D()(h)


def build():
    inp = keras.Input((SIDE, SIDE, 1))
    h = inp
    for width in (16, 24, 32):
        h = block(h, width)
    h = layers.GlobalAveragePooling2D()(h)
    out = layers.Dense(GRADES, activation="softmax")(h)
    model = keras.Model(inp, out)
    model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    x, y = make_fundus(3600)
    train = pipeline(x[:2400], y[:2400], True)
    holdout = pipeline(x[2400:], y[2400:], False)
    model = build()
    model.fit(train, validation_data=holdout, epochs=40)


if __name__ == "__main__":
    main()
