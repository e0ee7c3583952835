"""Keras on TensorFlow: model.fit on arrays, as its guides do. See train_protocol.py.

PEER_VARIANT=tf.data feeds it from a tf.data pipeline instead; arrays were measured to be faster.
"""

import os

import keras
import tensorflow as tf
from keras import layers

import train_protocol as protocol


def dense():
    return keras.Sequential([
        layers.Input((784,)),
        layers.Dense(128, activation="relu"),
        layers.Dense(10, activation="softmax"),
    ])


def conv():
    return keras.Sequential([
        layers.Input((64, 64, 3)),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dense(10, activation="softmax"),
    ])


def vgg16():
    return keras.applications.VGG16(weights=None, classes=1000)


MODELS = {"dense": dense, "conv": conv, "vgg16": vgg16}


class Clock(keras.callbacks.Callback):
    def __init__(self, watch, samples, batch):
        super().__init__()
        self.watch, self.samples, self.batch = watch, samples, batch

    def on_train_batch_end(self, step, logs=None):
        self.watch.step(min(self.batch, self.samples - step * self.batch))


def fed(x, y, batch):
    """The arguments of fit that bring the data."""
    if os.environ.get("PEER_VARIANT") != "tf.data":
        return {"x": x, "y": y, "batch_size": batch}
    samples = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x))
    return {"x": samples.batch(batch).prefetch(tf.data.AUTOTUNE)}


def main():
    args = protocol.arguments()
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    x, y = protocol.data_of(protocol.TASKS[args.model])
    model = MODELS[args.model]()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    watch = protocol.stopwatch("keras", f"{keras.__version__}, TensorFlow {tf.__version__}", args)
    model.fit(**fed(x, y, args.batch), epochs=1_000_000, verbose=0,
              callbacks=[Clock(watch, len(x), args.batch)])


if __name__ == "__main__":
    main()
