# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: one line per epoch and a longer validation every sixth epoch; both are wanted and small against the training.
import os
import tempfile

import numpy as np
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import layers  # noqa: E402


class LeafData:
    """Leaf crops with rust spots; the grade is the number of spots, 0 to 4."""

    def __init__(self, side=40, seed=0):
        self.side = side
        self.rng = np.random.default_rng(seed)

    def crops(self, n):
        s = self.side
        grade = self.rng.integers(0, 5, n)
        x = self.rng.normal(0.4, 0.08, (n, s, s, 3)).astype("float32")
        x[..., 1] += 0.25
        yy, xx = np.mgrid[0:s, 0:s]
        for i in range(n):
            for _ in range(grade[i]):
                cy, cx = self.rng.integers(4, s - 4, 2)
                spot = ((yy - cy) ** 2 + (xx - cx) ** 2) < 9
                x[i, spot] = (0.75, 0.45, 0.15)
        return x, grade


def residual(x, width):
    skip = layers.Conv2D(width, 1, strides=2)(x)
    x = layers.Conv2D(width, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2D(width, 3, padding="same")(x)
    return layers.Activation("relu")(layers.add([x, skip]))


def grader(side):
    inp = layers.Input((side, side, 3))
    x = layers.Conv2D(24, 3, padding="same", activation="relu")(inp)
    x = residual(x, 32)
    x = residual(x, 64)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inp, layers.Dense(5, activation="softmax")(x))


data = LeafData()
train = tf.data.Dataset.from_tensor_slices(data.crops(2500)).shuffle(2500).batch(50).prefetch(2)
check = tf.data.Dataset.from_tensor_slices(data.crops(2500)).batch(100).prefetch(2)

model = grader(data.side)
model.compile(optimizer=keras.optimizers.Adam(1e-3),
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])
out = tempfile.mkdtemp(prefix="leaf_rust_")
model.fit(
    train,
    epochs=400,
    verbose=2,
    validation_data=check,
    validation_freq=6,
    callbacks=[
        keras.callbacks.ModelCheckpoint(os.path.join(out, "best.keras"), monitor="loss", save_best_only=True),
        keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=10),
    ],
)
