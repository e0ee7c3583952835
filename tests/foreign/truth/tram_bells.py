# python: tensorflow
# truth: step=computes, first=compiles, batch=makes data
# Why: every fifth batch has a length that was not met before, given as a Python number: a new graph; batches are
# made in numpy on the training thread.
import statistics
import time

import numpy as np
import tensorflow as tf

from stopwatch import give, part, started

CELLS, KINDS = 256, 12


def make_batch(rng, count, length):
    grid = np.arange(length)
    sounds = np.empty((count, length, 16), np.float32)
    for i in range(count):
        tones = rng.uniform(0.01, 0.5, 16)
        sounds[i] = np.sin(grid[:, None] * tones[None]) + rng.normal(0, 0.1, (length, 16))
    return tf.constant(sounds), tf.constant(rng.integers(0, KINDS, count))


def main():
    rng = np.random.default_rng(8)
    taken = tf.Variable(tf.random.normal((16, CELLS), stddev=0.1))
    kept = tf.Variable(tf.random.normal((CELLS, CELLS), stddev=0.03))
    given = tf.Variable(tf.random.normal((CELLS, KINDS), stddev=0.05))
    weights = [taken, kept, given]

    @tf.function
    def train_step(sounds, labels, length):
        with tf.GradientTape() as tape:
            state = tf.zeros((sounds.shape[0], CELLS))
            for moment in range(0, length, 8):
                state = tf.tanh(sounds[:, moment] @ taken + state @ kept)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, state @ given))
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(0.05 * gradient)
        return loss

    step, usual = 0, []
    started()
    while True:
        length = 160 + step // 5
        with part("batch"):
            sounds, labels = make_batch(rng, 128, length)
        began = time.perf_counter()
        with part("step"):
            loss = float(train_step(sounds, labels, length))
        took = time.perf_counter() - began
        if step % 5:
            usual.append(took)
        if step % 5 == 4:
            give(first - statistics.median(usual[-8:]), "step", "first")
        if step % 5 == 0:
            first = took
        step += 1
        if step % 10 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
