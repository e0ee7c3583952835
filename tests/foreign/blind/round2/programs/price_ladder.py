# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 45
# Why: looks suspicious because the first call compiles a step with an unrolled network under XLA for many seconds without a word; afterwards every step has the same shape and runs evenly.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

WINDOW, FEATURES, HIDDEN, BATCH = 14, 12, 64, 256
rng = np.random.default_rng(13)
tf.random.set_seed(13)


def make_quotes(n=40000):
    noise = rng.normal(size=(n, FEATURES)).astype("float32")
    level = np.zeros_like(noise)
    for t in range(1, n):
        level[t] = 0.97 * level[t - 1] + 0.2 * noise[t]
    target = np.roll(level[:, 0] * 0.5 + level[:, 1] * level[:, 2], -1)
    return level, target.astype("float32")


def glorot(*shape):
    return tf.Variable(tf.random.normal(shape, stddev=(2.0 / sum(shape[-2:])) ** 0.5))


weights = {
    "wx1": glorot(FEATURES, 4 * HIDDEN), "wh1": glorot(HIDDEN, 4 * HIDDEN), "b1": tf.Variable(tf.zeros(4 * HIDDEN)),
    "wx2": glorot(HIDDEN, 4 * HIDDEN), "wh2": glorot(HIDDEN, 4 * HIDDEN), "b2": tf.Variable(tf.zeros(4 * HIDDEN)),
    "wo": glorot(HIDDEN, 1), "bo": tf.Variable(tf.zeros(1)),
}
params = list(weights.values())
moment1 = [tf.Variable(tf.zeros_like(p)) for p in params]
moment2 = [tf.Variable(tf.zeros_like(p)) for p in params]


def cell(x, h, c, layer):
    z = x @ weights["wx" + layer] + h @ weights["wh" + layer] + weights["b" + layer]
    i, f, g, o = tf.split(z, 4, axis=1)
    c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(c), c


@tf.function(jit_compile=True)
def train_step(x, y, t):
    with tf.GradientTape() as tape:
        h1 = c1 = h2 = c2 = tf.zeros((BATCH, HIDDEN))
        for k in range(WINDOW):
            h1, c1 = cell(x[:, k], h1, c1, "1")
            h2, c2 = cell(h1, h2, c2, "2")
        pred = (h2 @ weights["wo"] + weights["bo"])[:, 0]
        loss = tf.reduce_mean((pred - y) ** 2)
    for p, m, v, g in zip(params, moment1, moment2, tape.gradient(loss, params)):
        m.assign(0.9 * m + 0.1 * g)
        v.assign(0.999 * v + 0.001 * g * g)
        p.assign_sub(1e-3 * (m / (1 - 0.9 ** t)) / (tf.sqrt(v / (1 - 0.999 ** t)) + 1e-7))
    return loss


def main():
    level, target = make_quotes()
    for step in range(1, 3001):
        at = rng.integers(0, len(level) - WINDOW - 1, BATCH)
        x = level[at[:, None] + np.arange(WINDOW)]
        loss = train_step(tf.constant(x), tf.constant(target[at + WINDOW - 1]), tf.constant(float(step)))
        if step % 20 == 0:
            print(f"step {step} mse {float(loss):.4f}", flush=True)


if __name__ == "__main__":
    main()
