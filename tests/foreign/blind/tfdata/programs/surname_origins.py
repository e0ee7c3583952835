# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# Why: the names are split into characters once and cached; afterwards the input is a shuffle and a
# batch from memory, and the attention layers fill the step.
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random

import keras
import tensorflow as tf
from keras import layers, ops

ENDINGS = {"it": ["ini", "etti", "elli"], "pl": ["owski", "czyk", "icki"], "fi": ["nen", "lainen", "maki"],
           "gr": ["opoulos", "idis", "akis"], "am": ["yan", "ian", "unts"]}
LONGEST = 48
FILE = os.path.join(tempfile.gettempdir(), "surname_origins.csv")


def gather(n=8000):
    if os.path.exists(FILE):
        return
    rnd = random.Random(21)
    with open(FILE + "_", "w", encoding="utf-8") as f:
        for _ in range(n):
            origin = rnd.choice(list(ENDINGS))
            given = " ".join("".join(rnd.choices("abdegiklmnoprstuv", k=rnd.randrange(3, 9))) for _ in range(3))
            stem = "".join(rnd.choices("abdegiklmnoprstuv\u00e4\u0142", k=rnd.randrange(3, 8)))
            f.write(f"{given.title()} {stem.title()}{rnd.choice(ENDINGS[origin])},{origin}\n")
    os.replace(FILE + "_", FILE)


origins = tf.constant(list(ENDINGS))


def characters(line):
    name, origin = tf.io.decode_csv(line, ["", ""])
    points = tf.strings.unicode_decode(tf.strings.lower(name, encoding="utf-8"), "UTF-8")[:LONGEST]
    points = tf.where(points < 400, points, 1)
    points = tf.pad(points, [[0, LONGEST - tf.size(points)]])
    return tf.ensure_shape(points, (LONGEST,)), tf.argmax(tf.cast(origins == origin, tf.int32))


class Positions(layers.Layer):
    def build(self, shape):
        self.table = self.add_weight(shape=(LONGEST, shape[-1]), initializer="random_normal")

    def call(self, x):
        return x + self.table


def encoder(dim=96, heads=4, depth=2):
    inp = keras.Input((LONGEST,), dtype="int32")
    x = Positions()(layers.Embedding(400, dim)(inp))
    for _ in range(depth):
        a = layers.MultiHeadAttention(heads, dim // heads)(x, x)
        x = layers.LayerNormalization()(layers.Add()([x, a]))
        f = layers.Dense(dim, activation=None)(layers.Dense(4 * dim, activation="relu")(x))
        x = layers.LayerNormalization()(layers.Add()([x, f]))
    x = layers.Lambda(lambda v: ops.mean(v, axis=1))(x)
    return keras.Model(inp, layers.Dense(len(ENDINGS), activation="softmax")(x))


gather()
names = tf.data.TextLineDataset(FILE).map(characters, num_parallel_calls=tf.data.AUTOTUNE).cache()
names = names.shuffle(1024).repeat().batch(48, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
model = encoder()
model.compile(optimizer=keras.optimizers.AdamW(5e-4), loss="sparse_categorical_crossentropy",
              metrics=["accuracy"], jit_compile=False)
model.fit(names, epochs=60, steps_per_epoch=166, verbose=1)
