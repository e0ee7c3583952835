# python: tensorflow
# expected: worker-deadlock
# verdict: stuck|not-started
# seconds: 30
# where: tf.image.resize
# Why: the workers of the PyDataset are forked from a process in which TensorFlow already runs; TensorFlow's
# threads do not exist in the children, so tf.image.resize in __getitem__ never returns there and fit waits for
# the first batch for ever.
"""Rate the surface of cobblestone roads from pictures of a bicycle camera."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf


class RoadPictures(keras.utils.PyDataset):
    """Reads raw frames, resizes them to what the network expects."""

    def __init__(self, frames, roughness, batch_size=16, side=96, **kwargs):
        super().__init__(**kwargs)
        self.frames = frames
        self.roughness = roughness
        self.batch_size = batch_size
        self.side = side
        self.order = np.random.permutation(len(frames))

    def __len__(self):
        return len(self.frames) // self.batch_size

    def __getitem__(self, index):
        chosen = np.sort(self.order[index * self.batch_size:(index + 1) * self.batch_size])
        frames = self.frames[chosen].astype("float32") / 255.0
        frames = tf.image.resize(frames, (self.side, self.side), antialias=True)
        return frames.numpy(), self.roughness[chosen]

    def on_epoch_end(self):
        np.random.shuffle(self.order)


def record_ride(path, count=600, height=160, width=200):
    rng = np.random.default_rng(12)
    roughness = rng.uniform(0, 1, count).astype("float32")
    if not os.path.exists(path):
        y, x = np.mgrid[0:height, 0:width].astype("float32")
        frames = np.empty((count, height, width, 3), "uint8")
        for i, rough in enumerate(roughness):
            size = rng.uniform(6, 10)
            joints = np.maximum(np.cos(x / size + rng.uniform(0, 6)), np.cos(y / size + rng.uniform(0, 6)))
            grey = 130 - 90 * rough * joints + rng.normal(0, 12, (height, width))
            frames[i] = np.clip(grey, 0, 255).astype("uint8")[..., None]
        np.save(path, frames)
    return np.load(path, mmap_mode="r"), roughness


def make_network(side):
    return keras.Sequential([
        keras.Input((side, side, 3)),
        keras.layers.Conv2D(32, 5, strides=2, activation="relu"),
        keras.layers.Conv2D(64, 3, strides=2, activation="relu"),
        keras.layers.Conv2D(96, 3, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1),
    ])


def main():
    keras.utils.set_random_seed(6)
    frames, roughness = record_ride(os.path.join(tempfile.gettempdir(), "cobblestone_roads.npy"))
    print("frames", frames.shape, flush=True)
    pictures = RoadPictures(frames, roughness, workers=2, use_multiprocessing=True, max_queue_size=8)
    network = make_network(pictures.side)
    network.compile(optimizer=keras.optimizers.Adam(5e-4), loss="mse", metrics=["mae"])
    network.fit(pictures, epochs=200, verbose=2)


if __name__ == "__main__":
    main()
