# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: steps differ by a factor of several because sentences are batched by length; the function has one signature and is traced once.
import numpy as np
import tensorflow as tf
from tensorflow import keras

VOCAB, TAGS = 4000, 17
rng = np.random.default_rng(8)
BUCKETS = [16, 32, 64, 128]


def sentences(n):
    lengths = np.clip(rng.lognormal(3.2, 0.7, n).astype(int), 4, 127)
    for length in lengths:
        words = rng.integers(1, VOCAB, length)
        yield words, (words * 7 + np.roll(words, 1) * 3) % TAGS


data = {b: ([], []) for b in BUCKETS}
for words, tags in sentences(9000):
    b = next(b for b in BUCKETS if len(words) <= b)
    row_w, row_t = np.zeros(b, "int32"), np.zeros(b, "int32")
    row_w[:len(words)] = words
    row_t[:len(tags)] = tags
    data[b][0].append(row_w)
    data[b][1].append(row_t)
data = {b: (np.array(w), np.array(t)) for b, (w, t) in data.items()}

emb = keras.layers.Embedding(VOCAB, 64)
conv = [keras.layers.Conv1D(128, 5, padding="same", activation="relu") for _ in range(4)]
head = keras.layers.Dense(TAGS)
inp = keras.Input((None,), dtype="int32")
h = emb(inp)
for c in conv:
    h = c(h)
model = keras.Model(inp, head(h))
opt = keras.optimizers.Adam(1e-3)


@tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None, None], tf.int32)])
def step_fn(words, tags):
    weight = tf.cast(words > 0, tf.float32)
    with tf.GradientTape() as tape:
        logits = model(words, training=True)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tags, logits=logits)
        loss = tf.reduce_sum(ce * weight) / tf.reduce_sum(weight)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


sizes = np.array([len(data[b][0]) for b in BUCKETS])
average = None
for step in range(1, 20000):
    b = BUCKETS[rng.choice(len(BUCKETS), p=sizes / sizes.sum())]
    pick = rng.integers(0, len(data[b][0]), 64)
    loss = float(step_fn(tf.constant(data[b][0][pick]), tf.constant(data[b][1][pick])))
    average = loss if average is None else 0.95 * average + 0.05 * loss
    if step % 10 == 0:
        print(f"step {step} len {b} loss {average:.4f}", flush=True)
