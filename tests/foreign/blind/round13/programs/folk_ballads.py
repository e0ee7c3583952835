# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: steps take very different times because the verses have different lengths; the training step has a
# signature with open dimensions, is traced once, and batches are cut into buckets so that little is padding.
"""A small transformer that continues folk ballads, letter by letter."""

import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

LETTERS = "abcdefghijklmnopqrstuvwxyz ,.\n"
WIDTH, HEADS, DEPTH = 128, 4, 2
LONGEST = 160
SYLLABLES = ["la", "ri", "don", "sel", "mor", "wy", "hey", "no", "fa", "ren", "dal", "kin", "tha", "lo", "ver", "oh"]


def compose(count, seed):
    """Verses made of words that follow one another in a fixed manner."""
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(SYLLABLES, rng.integers(1, 4))) for _ in range(150)]
    follow = rng.integers(0, len(words), (len(words), 3))
    verses = []
    for _ in range(count):
        word, text = int(rng.integers(len(words))), ""
        target = int(rng.choice([30, 60, 100, 150]) * rng.uniform(0.7, 1))
        while len(text) < target:
            text += words[word] + (",\n" if rng.random() < 0.15 else " ")
            word = int(follow[word, rng.integers(0, 3)])
        verses.append([LETTERS.index(c) + 1 for c in text[:LONGEST - 1] + "."])
    return verses


def bucketed(verses):
    lengths = [len(v) for v in verses]
    flat = tf.RaggedTensor.from_row_lengths(np.concatenate(verses).astype(np.int32), lengths)
    data = tf.data.Dataset.from_tensor_slices(flat).shuffle(len(verses)).repeat()
    data = data.map(lambda verse: tf.cast(verse, tf.int32))
    data = data.bucket_by_sequence_length(
        element_length_func=lambda verse: tf.shape(verse)[0],
        bucket_boundaries=[32, 52, 80, 110],
        bucket_batch_sizes=[64, 48, 32, 24, 16],
        drop_remainder=True,
    )
    return data.prefetch(4)


class Block(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.attend = keras.layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
        self.widen = keras.layers.Dense(4 * WIDTH, activation="gelu")
        self.narrow = keras.layers.Dense(WIDTH)
        self.first, self.second = keras.layers.LayerNormalization(), keras.layers.LayerNormalization()

    def call(self, x):
        y = self.first(x)
        x = x + self.attend(y, y, use_causal_mask=True)
        return x + self.narrow(self.widen(self.second(x)))


class Bard(keras.Model):
    def __init__(self):
        super().__init__()
        self.letters = keras.layers.Embedding(len(LETTERS) + 1, WIDTH)
        self.places = keras.layers.Embedding(LONGEST, WIDTH)
        self.stack = [Block() for _ in range(DEPTH)]
        self.final = keras.layers.LayerNormalization()
        self.head = keras.layers.Dense(len(LETTERS) + 1)

    def call(self, verses):
        x = self.letters(verses) + self.places(tf.range(tf.shape(verses)[1]))
        for block in self.stack:
            x = block(x)
        return self.head(self.final(x))


def main():
    tf.random.set_seed(15)
    bard = Bard()
    bard(tf.ones((1, 8), tf.int32))
    optimizer = keras.optimizers.AdamW(6e-4, weight_decay=0.01, global_clipnorm=1.0)
    optimizer.build(bard.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)])
    def practise(verses):
        given, wanted = verses[:, :-1], verses[:, 1:]
        with tf.GradientTape() as tape:
            surprise = tf.nn.sparse_softmax_cross_entropy_with_logits(wanted, bard(given, training=True))
            known = tf.cast(wanted > 0, tf.float32)
            loss = tf.reduce_sum(surprise * known) / tf.reduce_sum(known)
        gradients = tape.gradient(loss, bard.trainable_variables)
        optimizer.apply_gradients(zip(gradients, bard.trainable_variables))
        return loss

    for step, verses in enumerate(bucketed(compose(6000, seed=2)), 1):
        began = time.perf_counter()
        loss = float(practise(verses))
        took = time.perf_counter() - began
        if step % 10 == 0:
            print(f"step {step} verses {tuple(verses.shape)} loss {loss:.4f} ({1000 * took:.0f} ms)", flush=True)


if __name__ == "__main__":
    main()
