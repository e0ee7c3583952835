# python: tensorflow
# truth: step=computes, first=compiles, wait=waits for data, save=checkpoints
# Why: one thread of tf.data makes the pictures and the loop waits for it; checkpoints now and then.
import os
import statistics
import tempfile
import time

import tensorflow as tf

from stopwatch import give, part, started

tf.config.threading.set_intra_op_parallelism_threads(1)


def picture(seed):
    moss = tf.random.stateless_normal((96, 96, 3), seed=[seed, 7])
    for turn in range(4):
        moss = tf.sort(moss + tf.roll(moss, turn + 1, axis=0), axis=turn % 2)
    return tf.image.resize(moss, (32, 32)), tf.cast(seed % 5, tf.int64)


def main():
    data = tf.data.Dataset.range(10 ** 9).map(picture).batch(32).prefetch(1)
    model = tf.keras.Sequential([
        tf.keras.Input((32, 32, 3)), tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.Conv2D(48, 3, activation="relu"), tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(5)])
    optimizer = tf.keras.optimizers.Adam(1e-3)
    measure = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    folder = tempfile.mkdtemp()
    keeper = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, optimizer=optimizer), folder, max_to_keep=2)

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = measure(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    batches, took = iter(data), []
    images, labels = next(batches)
    started()
    while True:
        began = time.perf_counter()
        with part("step"):
            loss = train_step(images, labels)
            shown = float(loss)
        took.append(time.perf_counter() - began)
        if len(took) == 4:
            give(took[0] - statistics.median(took), "step", "first")
        if len(took) % 20 == 0:
            print(f"step {len(took)} loss {shown:.4f}", flush=True)
        if len(took) % 15 == 0:
            with part("save"):
                keeper.save()
        with part("wait"):
            images, labels = next(batches)


if __name__ == "__main__":
    main()
