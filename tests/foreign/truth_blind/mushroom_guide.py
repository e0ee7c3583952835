# python: tensorflow
# truth: step=computes, first=compiles, sweep=collects garbage, check=validates, pause=sleeps
# Why: fit() on what is all in memory, with a callback that calls gc.collect() for fear of leaks and one that lets the fan cool.
import gc
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

import stopwatch


class Bookkeeper(keras.callbacks.Callback):
    """What comes behind the last step of an epoch, up to its end, is the look at the held-out mushrooms."""

    def __init__(self):
        super().__init__()
        self.took = []

    def on_train_batch_begin(self, batch, logs=None):
        if not self.took:
            stopwatch.started()
        self.began = time.perf_counter()
        stopwatch.enter("step" if self.took else "first")

    def on_train_batch_end(self, batch, logs=None):
        stopwatch.leave()
        self.took.append(time.perf_counter() - self.began)
        if len(self.took) == 6:
            stopwatch.give(statistics.median(self.took[1:]), "first", "step")
        if batch == self.params["steps"] - 1:
            stopwatch.enter("check")

    def on_epoch_end(self, epoch, logs=None):
        stopwatch.leave()


class Broom(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 16 == 15:
            with stopwatch.part("sweep"):
                gc.collect()


class Fan(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        with stopwatch.part("pause"):
            time.sleep(0.5)


def field_cards(count):
    """Each mushroom has its card; the guide keeps them all at hand for the printed edition."""
    return [{"cap": [i, i + 1], "gills": {"form": [i % 3], "colour": [i % 7]}} for i in range(count)]


def main():
    rng = np.random.default_rng(31)
    cards = field_cards(60_000)
    photos = rng.random((2_816, 24, 24, 3), np.float32)
    edible = np.array([card["gills"]["colour"][0] for card in cards[:2_816]])
    model = keras.Sequential([
        keras.Input((24, 24, 3)),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        keras.layers.SeparableConv2D(64, 3, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(7)])
    model.compile(keras.optimizers.SGD(0.02, momentum=0.9),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    walks = tf.data.Dataset.from_tensor_slices((photos[:2_048], edible[:2_048]))
    walks = walks.batch(32).cache().shuffle(64).repeat().prefetch(4)
    held_out = tf.data.Dataset.from_tensor_slices((photos[2_048:], edible[2_048:])).batch(64).cache()
    model.evaluate(held_out, verbose=0)
    model.fit(walks, steps_per_epoch=64, epochs=5_000, verbose=2, validation_data=held_out,
              callbacks=[Bookkeeper(), Broom(), Fan()])


if __name__ == "__main__":
    main()
