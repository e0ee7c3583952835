# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: the samples come from a Python generator, which is easily fast enough for this model: batches wait, the model is the work.
"""Stars from restaurant reviews. Reviews are composed by a generator, trained with a small transformer."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import random

import keras
import tensorflow as tf
from keras import layers

GOOD = "lovely crisp fresh friendly warm generous perfect tender quick bright".split()
BAD = "cold bland rude slow greasy stale dirty noisy burnt tiny".split()
PLAIN = "the a soup pasta table waiter menu we ordered it was and very with bread dessert lunch dinner again".split()
VOCAB = {w: i + 1 for i, w in enumerate(GOOD + BAD + PLAIN)}
LENGTH, DIM = 160, 128


def reviews():
    rnd = random.Random(6)
    while True:
        stars = rnd.randint(1, 5)
        good = rnd.choices(GOOD, k=3 * stars)
        bad = rnd.choices(BAD, k=3 * (6 - stars))
        words = good + bad + rnd.choices(PLAIN, k=rnd.randint(80, LENGTH - 18))
        rnd.shuffle(words)
        ids = [VOCAB[w] for w in words]
        yield ids + [0] * (LENGTH - len(ids)), stars - 1


def encoder_block(x, heads=4):
    h = layers.LayerNormalization()(x)
    x = x + layers.MultiHeadAttention(heads, DIM // heads)(h, h)
    h = layers.LayerNormalization()(x)
    h = layers.Dense(2 * DIM, activation="gelu")(h)
    return x + layers.Dense(DIM)(h)


def build():
    tokens = keras.Input((LENGTH,), dtype="int32")
    x = layers.Embedding(len(VOCAB) + 1, DIM)(tokens)
    for _ in range(2):
        x = encoder_block(x)
    x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return keras.Model(tokens, layers.Dense(5, activation="softmax")(x))


ds = tf.data.Dataset.from_generator(reviews, output_signature=(
    tf.TensorSpec((LENGTH,), tf.int32), tf.TensorSpec((), tf.int32)))
ds = ds.batch(32).prefetch(8)

model = build()
model.compile(keras.optimizers.AdamW(3e-4), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.summary()
model.fit(ds, steps_per_epoch=250, epochs=100)
