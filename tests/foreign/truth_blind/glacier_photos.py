# python: tensorflow
# truth: fetch=waits for data, step=computes, first=compiles, save=checkpoints, note=logs
# Why: fit() on a tf.data pipeline that decodes and warps PNG files too slowly; weights and a sheet of pictures per epoch.
import os
import statistics
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from PIL import Image

import stopwatch
from stopwatch import part

SIDE = 80


class IceNet(keras.Model):
    """The loop over the iterator is taken apart, so that the two halves of a step can be told from one another."""

    def __init__(self):
        super().__init__()
        self.body = keras.Sequential([
            keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
            keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
            keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(1_024, activation="relu"),
            keras.layers.Dense(1)])

    def call(self, photos):
        return self.body(photos)

    def make_train_function(self, force=False):
        if self.train_function is not None and not force:
            return
        inner = tf.function(self.train_step)
        took = []

        def one(iterator):
            if not took:
                stopwatch.started()
            with part("fetch"):
                photos = next(iterator)
            began = time.perf_counter()
            with part("step" if took else "first"):
                result = inner(photos)
            took.append(time.perf_counter() - began)
            if len(took) == 6:
                stopwatch.give(statistics.median(took[1:]), "first", "step")
            return result

        self.train_function = one


class Album(keras.callbacks.Callback):
    def __init__(self, folder, photos):
        super().__init__()
        self.folder, self.photos = folder, photos

    def on_epoch_end(self, epoch, logs=None):
        with part("save"):
            self.model.save_weights(os.path.join(self.folder, "ice.weights.h5"))
        with part("note"):
            tiles = self.photos[:12]
            sheet = np.concatenate([np.concatenate(list(tiles[i:i + 4]), axis=1) for i in (0, 4, 8)])
            picture = Image.fromarray(sheet)
            picture.save(os.path.join(self.folder, f"sheet{epoch % 3}.png"), compress_level=5)
            with open(os.path.join(self.folder, "losses.txt"), "a") as file:
                file.write(f"{epoch} {logs['loss']:.5f}\n")


def take_photos(folder, count):
    rng = np.random.default_rng(4)
    names, kept = [], []
    for i in range(count):
        hills = np.cumsum(rng.normal(size=(400, 400, 3)), axis=0) * 6
        photo = (hills % 255).astype(np.uint8)
        names.append(os.path.join(folder, f"{i}.png"))
        Image.fromarray(photo).save(names[-1], compress_level=1)
        kept.append(photo)
    return names, np.stack(kept[:12])


def develop(name, extent):
    photo = tf.image.decode_png(tf.io.read_file(name), channels=3)
    photo = tf.image.convert_image_dtype(photo, tf.float32)
    photo = tf.image.adjust_hue(photo, tf.random.uniform((), -0.1, 0.1))
    photo = tf.image.random_flip_left_right(tf.image.adjust_gamma(photo, 1.2))
    return tf.image.resize(photo, (SIDE, SIDE), method="bicubic"), extent


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    folder = tempfile.mkdtemp()
    names, sample = take_photos(folder, 64)
    extents = np.random.default_rng(5).random((64, 1)).astype(np.float32)
    shots = tf.data.Dataset.from_tensor_slices((names, extents)).shuffle(64).repeat()
    shots = shots.map(develop, num_parallel_calls=1, deterministic=True).batch(16).prefetch(1)
    model = IceNet()
    model.compile(keras.optimizers.Adam(1e-3), "mse")
    model.fit(shots, epochs=100_000, steps_per_epoch=8, verbose=2, callbacks=[Album(folder, sample)])


if __name__ == "__main__":
    main()
