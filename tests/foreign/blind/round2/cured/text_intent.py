# python: tensorflow
# expected: python-generator [also accepted: input-bound, hot-line]
# verdict: slow
# seconds: 35
# where: def utterances / ngram_ids / zlib.crc32
# Why: every sample is hashed into n-grams by a Python generator behind from_generator, under the interpreter's lock, again in every epoch; the usual quick way from a CSV to tf.data.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import csv
import random
import tempfile
import zlib
import numpy as np
import tensorflow as tf
import keras
from keras import layers

BUCKETS, MAX_IDS, INTENTS = 20000, 256, 12
random.seed(5)
WORDS = ["".join(random.choices("abcdefghiklmnoprstuvw", k=random.randint(3, 9))) for _ in range(3000)]


def write_csv(path, rows=6000):
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        for _ in range(rows):
            intent = random.randrange(INTENTS)
            words = random.choices(WORDS[intent * 200:intent * 200 + 400], k=random.randint(15, 40))
            out.writerow([intent, " ".join(words)])


def ngram_ids(text):
    text = f"<{text.lower()}>"
    ids = []
    for n in (3, 4, 5):
        for i in range(len(text) - n + 1):
            ids.append(1 + zlib.crc32(text[i:i + n].encode()) % (BUCKETS - 1))
    counts = {}
    for k in ids:
        counts[k] = counts.get(k, 0) + 1
    top = sorted(counts, key=lambda k: (-counts[k], k))[:MAX_IDS]
    return np.array(top + [0] * (MAX_IDS - len(top)), np.int32)


def utterances(path):
    with open(path, newline="") as f:
        for intent, text in csv.reader(f):
            yield ngram_ids(text), int(intent)


def make_dataset(path):
    rows = list(utterances(path))
    ds = tf.data.Dataset.from_tensor_slices((np.stack([r[0] for r in rows]), np.array([r[1] for r in rows], np.int32)))
    return ds.shuffle(512).batch(64).prefetch(tf.data.AUTOTUNE)


def build():
    inp = keras.Input((MAX_IDS,), dtype="int32")
    h = layers.Embedding(BUCKETS, 24)(inp)
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dense(64, activation="relu")(h)
    out = layers.Dense(INTENTS, activation="softmax")(h)
    model = keras.Model(inp, out)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "utterances.csv")
        write_csv(path)
        build().fit(make_dataset(path), epochs=60)


if __name__ == "__main__":
    main()
