# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: each epoch ends with a pause for validation and a checkpoint, but together they take a small part of the time.
"""Find cracks in bricks on a conveyor (synthetic pictures), with validation, checkpoints and early stopping."""
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

SIDE = 64
TRAIN, TEST = 5_120, 256
BATCH = 32
EPOCHS = 40


def make_bricks(count, rng):
    """A grainy surface; half of them have a thin dark crack."""
    bricks = 0.55 + 0.12 * rng.standard_normal((count, SIDE, SIDE), dtype="float32")
    cracked = rng.integers(0, 2, count)
    rows = np.arange(SIDE)
    for i in np.flatnonzero(cracked):
        path = rng.integers(8, SIDE - 8) + np.cumsum(rng.integers(-1, 2, SIDE))
        length = rng.integers(24, SIDE)
        bricks[i, rows[:length], np.clip(path[:length], 0, SIDE - 1)] -= rng.uniform(0.2, 0.5)
    return (bricks[..., None] - 0.55) / 0.15, cracked.astype("float32")


def augment(brick, label):
    brick = tf.image.random_flip_left_right(brick)
    return tf.image.random_flip_up_down(brick), label


def build():
    inputs = keras.Input((SIDE, SIDE, 1))
    x = inputs
    for width in (16, 32, 64, 96):
        x = keras.layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
        x = keras.layers.BatchNormalization(momentum=0.9)(x)
        x = keras.layers.ReLU()(x)
        x = keras.layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        x = keras.layers.MaxPooling2D()(x)
    x = keras.layers.GlobalMaxPooling2D()(x)
    return keras.Model(inputs, keras.layers.Dense(1)(x), name="bricks")


class Notes(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        print(f"after epoch {epoch + 1}: rate {float(self.model.optimizer.learning_rate):.1e}, "
              f"gap {logs.get('val_loss', 0.0) - logs.get('loss', 0.0):+.3f}", flush=True)


def main():
    keras.utils.set_random_seed(13)
    rng = np.random.default_rng(13)
    train = (tf.data.Dataset.from_tensor_slices(make_bricks(TRAIN, rng)).shuffle(TRAIN)
             .map(augment, num_parallel_calls=2).batch(BATCH, drop_remainder=True).prefetch(2))
    test = tf.data.Dataset.from_tensor_slices(make_bricks(TEST, rng)).batch(64).prefetch(1)
    folder = tempfile.mkdtemp(prefix="bricks-")
    model = build()
    model.compile(optimizer=keras.optimizers.Adam(5e-4), loss=keras.losses.BinaryCrossentropy(from_logits=True),
                  metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)])
    print(f"checkpoints go to {folder}", flush=True)
    model.fit(train, validation_data=test, epochs=EPOCHS, callbacks=[
        keras.callbacks.ModelCheckpoint(os.path.join(folder, "last.weights.h5"), save_weights_only=True),
        keras.callbacks.ReduceLROnPlateau(patience=4),
        keras.callbacks.EarlyStopping(patience=20),
        Notes(),
    ])


if __name__ == "__main__":
    main()
