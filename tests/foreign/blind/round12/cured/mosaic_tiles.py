# python: tensorflow
"""Mean teacher: tell the workshops of Roman mosaics apart, with few labelled tiles and many unlabelled ones."""
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

WORKSHOPS = 8
SIDE = 20
LABELLED = 1500
UNLABELLED = 6000
STEPS = 20000


def make_tiles(n, seed):
    rng = np.random.default_rng(seed)
    style = np.random.default_rng(99).normal(0, 1, (WORKSHOPS, SIDE, SIDE, 3))
    y = rng.integers(0, WORKSHOPS, n)
    x = 0.35 * style[y] + rng.normal(0, 1.0, (n, SIDE, SIDE, 3))
    return x.astype("float32"), y.astype("int32")


def build(name):
    return keras.Sequential([
        keras.Input((SIDE, SIDE, 3)),
        layers.Conv2D(24, 3, activation="relu"),
        layers.Conv2D(32, 3, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(96, activation="relu"),
        layers.Dense(WORKSHOPS),
    ], name=name)


student = build("student")
teacher = build("teacher")
teacher.set_weights(student.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(student.trainable_variables)
cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def jitter(x):
    x = x + tf.random.normal(tf.shape(x), stddev=0.15)
    return x * tf.random.uniform((tf.shape(x)[0], 1, 1, 1), 0.9, 1.1)


@tf.function
def train_step(x, y, u, weight):
    target = tf.nn.softmax(teacher(jitter(u), training=False))
    with tf.GradientTape() as tape:
        supervised = cross_entropy(y, student(jitter(x), training=True))
        guess = tf.nn.softmax(student(jitter(u), training=True))
        consistency = tf.reduce_mean(tf.square(guess - tf.stop_gradient(target)))
        loss = supervised + weight * consistency
    grads = tape.gradient(loss, student.trainable_variables)
    optimizer.apply_gradients(zip(grads, student.trainable_variables))
    for slow, fast in zip(teacher.variables, student.variables):
        slow.assign(0.99 * slow + 0.01 * fast)
    return supervised, consistency


def main():
    tf.random.set_seed(1)
    xl, yl = make_tiles(LABELLED, 1)
    xu, _ = make_tiles(UNLABELLED, 2)
    labelled = tf.data.Dataset.from_tensor_slices((xl, yl)).shuffle(LABELLED).repeat().batch(64)
    unlabelled = tf.data.Dataset.from_tensor_slices(xu).shuffle(UNLABELLED).repeat().batch(64)
    data = tf.data.Dataset.zip((labelled, unlabelled)).prefetch(2)
    start, mean_loss = time.time(), 0.0
    for step, ((x, y), u) in enumerate(data.take(STEPS), 1):
        weight = tf.constant(min(1.0, step / 500), tf.float32)
        supervised, consistency = train_step(x, y, u, weight)
        mean_loss += float(supervised) / 20
        if step % 20 == 0:
            print(f"step {step} loss {mean_loss:.4f} consistency {float(consistency):.5f} "
                  f"({step / (time.time() - start):.1f} steps/s)", flush=True)
            mean_loss = 0.0


if __name__ == "__main__":
    main()
