# python: tensorflow
# expected: serial-map [also accepted: input-bound]
# verdict: slow
# seconds: 25
# Why: the rulings are cleaned by regular expressions, split and hashed in one sequential map
# (random word dropout keeps it so); the bag-of-words model waits for each padded batch.
import argparse
import os
import random
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
from tensorflow.keras import layers

WORDS = ("the court finds that appeal motion granted denied costs plaintiff defendant lease tort "
         "contract damages statute section pursuant evidence witness hearing remand order judgment "
         "upon review dismissed with without prejudice liability negligence breach duty").split()
VOCAB = 5000


def corpus(path, n=3000):
    if os.path.exists(path):
        return path
    rnd = random.Random(8)
    with open(path + ".tmp", "w") as f:
        for _ in range(n):
            outcome = rnd.randrange(3)
            body = rnd.choices(WORDS, k=rnd.randrange(250, 450))
            body[::17] = [("granted", "denied", "remand")[outcome]] * len(body[::17])
            body[::29] = ["\u00a7 %d(%s)" % (rnd.randrange(900), rnd.choice("abc")) for _ in body[::29]]
            f.write("%d\t%s.\n" % (outcome, ", ".join(" ".join(body).split(" the ")).capitalize()))
    os.replace(path + ".tmp", path)
    return path


def tokenise(line):
    parts = tf.strings.split(line, "\t", maxsplit=1)
    text = tf.strings.lower(parts[1], encoding="utf-8")
    text = tf.strings.regex_replace(text, "\u00a7" r"\s*\d+\([a-z]\)", " section_ref ")
    text = tf.strings.regex_replace(text, r"\d+", " num ")
    text = tf.strings.regex_replace(text, r"[^a-z_ ]+", " ")
    text = tf.strings.regex_replace(text, r"\b(the|that|upon|with)\b", "")
    words = tf.strings.split(tf.strings.strip(text))
    words = tf.boolean_mask(words, tf.random.uniform(tf.shape(words)) > 0.1)
    pairs = tf.strings.join([words[:-1], words[1:]], separator="_")
    tokens = tf.strings.to_hash_bucket_fast(tf.concat([words, pairs], 0), VOCAB - 1) + 1
    return tokens, tf.strings.to_number(parts[0], tf.int32)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--epochs", type=int, default=80)
    args = p.parse_args()
    path = corpus(os.path.join(tempfile.gettempdir(), "court_rulings.tsv"))

    rulings = tf.data.TextLineDataset(path).repeat().shuffle(256)
    rulings = rulings.map(tokenise)
    rulings = rulings.padded_batch(args.batch, padded_shapes=([1024], []), drop_remainder=True)
    rulings = rulings.prefetch(2)

    model = tf.keras.Sequential([
        layers.Input((1024,), dtype="int64"),
        layers.Embedding(VOCAB, 8),
        layers.GlobalAveragePooling1D(),
        layers.Dense(3, activation="softmax"),
    ])
    model.compile(loss="sparse_categorical_crossentropy", metrics=["acc"],
                  optimizer=tf.keras.optimizers.Adam(5e-3))
    model.fit(rulings, epochs=args.epochs, steps_per_epoch=150, verbose=1)


if __name__ == "__main__":
    main()
