# python: tensorflow
# expected: retracing [also accepted: first-step-compiling, autotune-varying-shapes]
# verdict: slow
# seconds: 35
# where: train_step(xb, yb, rate) / def train_step
# Why: the decayed learning rate is a Python float and goes into a tf.function as an argument: every new value is a new trace. Very common in hand-written loops with schedules.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import math
import numpy as np
import tensorflow as tf
import keras
from keras import layers

HISTORY, HORIZON, STORES = 56, 7, 400
tf.get_logger().setLevel("ERROR")
rng = np.random.default_rng(21)


def make_sales():
    days = np.arange(900)
    week = 1 + 0.4 * np.sin(2 * np.pi * days / 7)
    year = 1 + 0.3 * np.sin(2 * np.pi * days / 365)
    level = rng.gamma(4, 10, STORES)
    sales = level[:, None] * week * year + rng.normal(size=(STORES, len(days))) * 4
    return (sales / sales.mean(1, keepdims=True)).astype("float32")


def sample(sales, n):
    s = rng.integers(0, STORES, n)
    t = rng.integers(0, sales.shape[1] - HISTORY - HORIZON, n)
    rows = np.stack([sales[a, b:b + HISTORY + HORIZON] for a, b in zip(s, t)])
    return tf.constant(rows[:, :HISTORY, None]), tf.constant(rows[:, HISTORY:])


model = keras.Sequential([
    keras.Input((HISTORY, 1)),
    layers.Conv1D(32, 7, padding="causal", activation="relu"),
    layers.Conv1D(32, 7, padding="causal", dilation_rate=7, activation="relu"),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dense(HORIZON)])
momentum = [tf.Variable(tf.zeros_like(w), trainable=False) for w in model.trainable_variables]


@tf.function
def train_step(x, y, rate):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = tf.reduce_mean(tf.abs(pred - y))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    for w, m, g in zip(model.trainable_variables, momentum, grads):
        m.assign(0.9 * m + g)
        w.assign_sub(rate * m)
    return loss


def main():
    sales = make_sales()
    steps = 6000
    mean = 0.0
    for step in range(steps):
        rate = 0.001 + 0.5 * 0.02 * (1 + math.cos(math.pi * step / steps))
        xb, yb = sample(sales, 128)
        loss = train_step(xb, yb, rate)
        mean += float(loss)
        if step % 10 == 9:
            print(f"step {step + 1} mae {mean / 10:.4f} lr {rate:.6f}", flush=True)
            mean = 0.0


if __name__ == "__main__":
    main()
