"""Keras on TensorFlow: model.fit on arrays, as its guides do. See train_protocol.py.

PEER_VARIANT=tuned adds what made it faster here. A tf.data pipeline instead of arrays did not.
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


TUNED = {
    "dense": {"steps_per_execution": 16, "jit_compile": True},
    "conv": {"steps_per_execution": 16},
    "vgg16": {},
}


class Clock(keras.callbacks.Callback):
    def __init__(self, watch, samples, batch):
        super().__init__()
        self.watch, self.samples, self.batch = watch, samples, batch

    def on_epoch_begin(self, epoch, logs=None):
        self.done = 0

    def on_train_batch_end(self, step, logs=None):
        before, self.done = self.done, min((step + 1) * self.batch, self.samples)
        self.watch.step(self.done - before)


def main():
    args = protocol.arguments()
    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(args.threads)
    x, y = protocol.data_of(protocol.TASKS[args.model])
    tuned = os.environ.get("PEER_VARIANT") == "tuned"
    model = MODELS[args.model]()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy",
                  metrics=["accuracy"], **(TUNED[args.model] if tuned else {}))
    name = "keras tuned" if tuned else "keras"
    watch = protocol.stopwatch(name, f"{keras.__version__}, TensorFlow {tf.__version__}", args)
    model.fit(x, y, batch_size=args.batch, epochs=1_000_000, verbose=0,
              callbacks=[Clock(watch, len(x), args.batch)])


if __name__ == "__main__":
    main()
