# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 35
# Why: three lengths of batches make three traces in the first seconds, and steps of very different length afterwards; nothing is traced later.
"""Tag the language of tram announcements of different length (three buckets of padded token ids)."""
import os
import time
from collections import Counter

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

VOCAB, LANGS = 400, 8
BUCKETS = [16, 32, 64]


def utterances(n, seed=17):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(VOCAB - 1, 0.8), LANGS)
    rows = []
    for _ in range(n):
        lang = int(rng.integers(LANGS))
        size = int(rng.integers(6, 64))
        rows.append((rng.choice(VOCAB - 1, size, p=prior[lang]) + 1, lang))
    return rows


def bucketed(rows):
    shelves = {b: ([], []) for b in BUCKETS}
    for words, lang in rows:
        b = next(b for b in BUCKETS if len(words) <= b)
        padded = np.zeros(b, "int32")
        padded[:len(words)] = words
        shelves[b][0].append(padded)
        shelves[b][1].append(lang)
    return {b: (np.stack(x), np.array(y, "int32")) for b, (x, y) in shelves.items()}


def batches(shelves, rng, size=96):
    plan = []
    for b, (x, _) in shelves.items():
        order = rng.permutation(len(x))
        plan += [(b, order[i:i + size]) for i in range(0, len(order) - size + 1, size)]
    rng.shuffle(plan)
    for b, idx in plan:
        x, y = shelves[b]
        yield b, x[idx], y[idx]


inp = keras.Input((None,), dtype="int32")
z = layers.Embedding(VOCAB, 96)(inp)
for _ in range(2):
    att = layers.MultiHeadAttention(4, 24)(z, z)
    z = layers.LayerNormalization()(layers.Add()([z, att]))
    ff = layers.Dense(96)(layers.Dense(256, activation="gelu")(z))
    z = layers.LayerNormalization()(layers.Add()([z, ff]))
model = keras.Model(inp, layers.Dense(LANGS)(layers.GlobalAveragePooling1D()(z)))
optimizer = keras.optimizers.Adam(5e-4)
optimizer.build(model.trainable_variables)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(tokens, lang):
    with tf.GradientTape() as tape:
        logits = model(tokens, training=True)
        loss = loss_fn(lang, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def main():
    shelves = bucketed(utterances(6000))
    rng = np.random.default_rng(0)
    step, began, seen, recent = 0, time.time(), Counter(), []
    for epoch in range(400):
        for b, x, y in batches(shelves, rng):
            loss = train_step(tf.constant(x), tf.constant(y))
            recent.append(float(loss))
            seen[b] += 1
            step += 1
            if step % 10 == 0:
                print(f"epoch {epoch} step {step} loss {np.mean(recent):.4f} "
                      f"lengths {dict(seen)} {time.time() - began:.0f}s", flush=True)
                recent.clear()


if __name__ == "__main__":
    main()
