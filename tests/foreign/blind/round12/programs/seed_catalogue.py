# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: batches of three different lengths, so three traces at the beginning; validation and a checkpoint now and then cost little.
"""Sort the entries of old seed catalogues by plant family; entries are bucketed by length."""
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

FAMILIES = 9
WORDS = 2000
BOUNDS = [16, 32, 64]
BATCH = 32


def make_entries(n, seed):
    rng = np.random.default_rng(seed)
    topical = np.random.default_rng(5).integers(100, WORDS, (FAMILIES, 60))
    y = rng.integers(0, FAMILIES, n)
    texts = []
    for family in y:
        length = int(rng.choice(BOUNDS)) - int(rng.integers(0, 12))
        words = rng.integers(1, WORDS, length)
        mine = rng.random(length) < 0.12
        words[mine] = rng.choice(topical[family], mine.sum())
        texts.append(words)
    return texts, y


def batches(texts, y, rng, training):
    """Arrays padded to the bound of their bucket, in random order."""
    length = np.array([len(t) for t in texts])
    plan = []
    low = 0
    for bound in BOUNDS:
        rows = np.flatnonzero((length > low) & (length <= bound))
        if training:
            rng.shuffle(rows)
        plan += [(bound, rows[i:i + BATCH]) for i in range(0, len(rows) - BATCH + 1, BATCH)]
        low = bound
    if training:
        rng.shuffle(plan)
    for bound, rows in plan:
        x = np.zeros((BATCH, bound), "int32")
        for i, r in enumerate(rows):
            x[i, :length[r]] = texts[r]
        yield x, y[rows].astype("int32")


class Reader(keras.Model):
    def __init__(self):
        super().__init__()
        self.words = layers.Embedding(WORDS, 96)
        self.mix = [layers.MultiHeadAttention(4, 24) for _ in range(2)]
        self.norm = [layers.LayerNormalization() for _ in range(2)]
        self.wide = [layers.Dense(256, activation="gelu") for _ in range(2)]
        self.back = [layers.Dense(96) for _ in range(2)]
        self.drop = layers.Dropout(0.2)
        self.out = layers.Dense(FAMILIES)

    def call(self, ids, training=False):
        x = self.words(ids)
        for mix, norm, wide, back in zip(self.mix, self.norm, self.wide, self.back):
            x = norm(x + mix(x, x))
            x = x + self.drop(back(wide(x)), training=training)
        return self.out(tf.reduce_mean(x, 1))


model = Reader()
optimizer = keras.optimizers.Adam(5e-4)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def right(x, y):
    return tf.reduce_mean(tf.cast(tf.argmax(model(x), -1, output_type=tf.int32) == y, tf.float32))


def main():
    rng = np.random.default_rng(12)
    texts, y = make_entries(9000, 1)
    held, held_y = make_entries(700, 2)
    model(np.zeros((2, 16), "int32"))
    optimizer.build(model.trainable_variables)
    step, start = 0, time.time()
    for epoch in range(1, 401):
        for x, labels in batches(texts, y, rng, True):
            loss = train_step(tf.constant(x), tf.constant(labels))
            step += 1
            if step == 1 or step % 10 == 0:
                print(f"epoch {epoch} step {step} loss {float(loss):.4f} [{x.shape[1]} words] {time.time() - start:.1f}s",
                      flush=True)
            if step % 150 == 0:
                score = np.mean([float(right(tf.constant(a), tf.constant(b))) for a, b in batches(held, held_y, rng, False)])
                model.save_weights("/tmp/seed_catalogue.weights.h5")
                print(f"held out accuracy {score:.3f}, saved", flush=True)


if __name__ == "__main__":
    main()
