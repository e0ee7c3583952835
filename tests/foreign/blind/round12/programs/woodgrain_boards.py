# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: two loader processes that mostly sleep and a first batch that comes late: the convolutions are the work.
"""Grade sawn boards by their grain; boards are drawn on the fly by worker processes."""
import keras
import numpy as np
from keras import layers

GRADES = 4
SIDE = 48


class Boards(keras.utils.PyDataset):
    """Each index is a seed, so every worker draws the same boards for it."""

    def __init__(self, batches, batch_size, first, **kwargs):
        super().__init__(**kwargs)
        self.batches, self.batch_size, self.first = batches, batch_size, first

    def __len__(self):
        return self.batches

    def __getitem__(self, index):
        rng = np.random.default_rng(self.first + index)
        n = self.batch_size
        yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype("float32") / SIDE
        grade = rng.integers(0, GRADES, n)
        rings = (6 + 3 * grade + rng.normal(0, 1.0, n))[:, None, None]
        wave = 0.05 * np.sin(2 * np.pi * (yy * rng.uniform(1, 3, (n, 1, 1)) + rng.random((n, 1, 1))))
        wood = np.sin(2 * np.pi * rings * (xx + wave))
        knot = np.exp(-((xx - rng.random((n, 1, 1))) ** 2 + (yy - rng.random((n, 1, 1))) ** 2) / 0.01)
        wood = wood + 2 * knot + rng.normal(0, 0.5, wood.shape)
        return wood[..., None].astype("float32"), grade.astype("int32")


class Progress(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.count = 0

    def on_train_batch_end(self, batch, logs=None):
        self.count += 1
        if self.count == 1 or self.count % 5 == 0:
            print(f"[{self.count}] loss={logs['loss']:.4f} acc={logs['accuracy']:.3f}", flush=True)

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1}: loss {logs['loss']:.4f} val_loss {logs['val_loss']:.4f} "
              f"val_accuracy {logs['val_accuracy']:.3f}", flush=True)


def block(x, width):
    skip = layers.Conv2D(width, 1, strides=2)(x)
    x = layers.Conv2D(width, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2D(width, 3, padding="same")(x)
    x = layers.BatchNormalization()(x)
    return layers.Activation("relu")(layers.Add()([x, skip]))


def main():
    keras.utils.set_random_seed(9)
    board = keras.Input((SIDE, SIDE, 1))
    x = layers.Conv2D(24, 5, padding="same", activation="relu")(board)
    for width in (32, 48, 64):
        x = block(x, width)
    x = layers.GlobalAveragePooling2D()(x)
    model = keras.Model(board, layers.Dense(GRADES, activation="softmax")(x))
    model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    train = Boards(500, 32, 1000, workers=2, use_multiprocessing=True, max_queue_size=12)
    check = Boards(4, 32, 10)
    model.fit(train, validation_data=check, epochs=400, verbose=0, callbacks=[Progress()])


if __name__ == "__main__":
    main()
