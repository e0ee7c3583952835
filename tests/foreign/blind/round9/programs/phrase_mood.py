# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: the phrases come in three lengths, so the tf.function is traced three times in all and never again; batches of different
# lengths take different times and the loss is noisy.
"""The mood of a phrase: word counts with signs, phrases sorted into three buckets of length."""
import logging
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("mood")

WORDS, BATCH, BUCKETS = 2000, 64, (16, 32, 48)
rng = np.random.default_rng(21)
feeling = rng.choice([-1.0, 0.0, 1.0], WORDS, p=[0.15, 0.7, 0.15])


def phrases(length):
    words = rng.integers(1, WORDS, (BATCH, length))
    score = feeling[words].sum(axis=1) + rng.normal(0, 0.7, BATCH)
    return words.astype("int32"), (score > 0).astype("float32")


class MoodModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = keras.layers.Embedding(WORDS, 64)
        self.mix = keras.layers.Conv1D(128, 3, padding="same", activation="relu")
        self.mix2 = keras.layers.Conv1D(128, 3, padding="same", activation="relu")
        self.pool = keras.layers.GlobalAveragePooling1D()
        self.hidden = keras.layers.Dense(128, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, words, training=False):
        x = self.mix2(self.mix(self.embed(words)))
        return self.out(self.hidden(self.pool(x)))[:, 0]


model = MoodModel()
model(np.zeros((1, BUCKETS[0]), "int32"))
optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(model.trainable_variables)
checkpoint = tf.train.Checkpoint(model=model)


@tf.function
def update(words, mood):
    with tf.GradientTape() as tape:
        logits = model(words, training=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=mood, logits=logits))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


def main(steps=200000):
    held_out = {length: phrases(length) for length in BUCKETS}
    where = os.path.join(tempfile.gettempdir(), "phrase_mood", "ckpt")
    for step in range(1, steps + 1):
        length = int(rng.choice(BUCKETS))
        words, mood = phrases(length)
        loss = update(tf.constant(words), tf.constant(mood))
        if step % 50 == 0:
            log.info("step %d (length %d) loss %.4f", step, length, float(loss))
        if step % 500 == 0:
            right = [np.mean((model(tf.constant(w)).numpy() > 0) == (m > 0)) for w, m in held_out.values()]
            log.info("held out: %.3f right", np.mean(right))
            checkpoint.write(where)


if __name__ == "__main__":
    main()
