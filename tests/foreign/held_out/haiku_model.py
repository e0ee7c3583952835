# python: tensorflow
# expected: retracing
# verdict: slow
# seconds: 35
# where: learner.update( / update(self / tape / self.net( / logits / gradient( / apply_gradients
# Why: each batch is padded to its own longest line and the tf.function has no signature, so that nearly every step
# brings a new shape and is traced anew.
import logging
import random
import time

import numpy as np
import tensorflow as tf

tf.get_logger().setLevel("ERROR")
logging.basicConfig(level=logging.INFO, format="%(message)s")


class Corpus:
    def __init__(self, lines=4000, letters=40, seed=17):
        rnd = random.Random(seed)
        self.letters = letters
        self.lines = [[rnd.randrange(1, letters) for _ in range(rnd.randint(8, 600))] for _ in range(lines)]

    def epochs(self, batch):
        while True:
            random.shuffle(self.lines)
            for at in range(0, len(self.lines) - batch, batch):
                yield self.pad(self.lines[at:at + batch])

    @staticmethod
    def pad(lines):
        table = np.zeros((len(lines), max(map(len, lines))), np.int32)
        for row, line in zip(table, lines):
            row[:len(line)] = line
        return table


class Learner:
    def __init__(self, letters):
        self.net = tf.keras.Sequential([
            tf.keras.layers.Embedding(letters, 24),
            *[tf.keras.layers.Conv1D(24, 3, padding="causal", activation="relu") for _ in range(6)],
            tf.keras.layers.Dense(letters),
        ])
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.net(tf.zeros((1, 8), tf.int32))
        self.opt.build(self.net.trainable_variables)

    @tf.function
    def update(self, text):
        with tf.GradientTape() as tape:
            logits = self.net(text[:, :-1], training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(text[:, 1:], logits))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss


def main():
    corpus = Corpus()
    learner = Learner(corpus.letters)
    since = time.time()
    for step, text in enumerate(corpus.epochs(batch=4)):
        loss = learner.update(tf.constant(text))
        if step % 10 == 0:
            logging.info("step %d  loss %.3f  %.2f s", step, float(loss), time.time() - since)


if __name__ == "__main__":
    main()
