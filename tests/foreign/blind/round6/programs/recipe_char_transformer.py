# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: the first step takes seconds for tracing, the batches come from a Python generator that is quick enough, and the loss jumps at each restart of the learning rate.
import logging
import time

import numpy as np
import tensorflow as tf

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
log = logging.getLogger("recipes")

CONTEXT = 128
DIM = 192
HEADS = 4
LAYERS = 2
BATCH = 12


def cookbook(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    verbs = "mix stir bake fry chop boil whisk fold knead simmer roast grate".split()
    things = "flour sugar butter onion carrot garlic cream tomato basil rice egg pepper leek bean".split()
    lines = []
    for _ in range(n):
        v, a, b = rng.choice(verbs), rng.choice(things), rng.choice(things)
        lines.append(f"{v} {rng.integers(1, 12)} {a} with {b} for {rng.integers(1, 60)} min. ")
    return "".join(lines)


text = cookbook()
alphabet = sorted(set(text))
codes = np.array([alphabet.index(c) for c in text], np.int32)


def windows():
    rng = np.random.default_rng(1)
    offsets = np.arange(CONTEXT + 1)
    while True:
        start = rng.integers(0, len(codes) - CONTEXT - 1, BATCH)
        block = codes[start[:, None] + offsets]
        yield block[:, :-1], block[:, 1:]


class TokenAndPlace(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.token = tf.keras.layers.Embedding(len(alphabet), DIM)
        self.place = tf.keras.layers.Embedding(CONTEXT, DIM)

    def call(self, ids):
        return self.token(ids) + self.place(tf.range(CONTEXT))


class Block(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.n1 = tf.keras.layers.LayerNormalization()
        self.n2 = tf.keras.layers.LayerNormalization()
        self.att = tf.keras.layers.MultiHeadAttention(HEADS, DIM // HEADS)
        self.up = tf.keras.layers.Dense(4 * DIM, activation="gelu")
        self.down = tf.keras.layers.Dense(DIM)

    def call(self, x):
        h = self.n1(x)
        x = x + self.att(h, h, use_causal_mask=True)
        return x + self.down(self.up(self.n2(x)))


def language_model():
    ids = tf.keras.Input((CONTEXT,), dtype="int32")
    x = TokenAndPlace()(ids)
    for _ in range(LAYERS):
        x = Block()(x)
    x = tf.keras.layers.LayerNormalization()(x)
    return tf.keras.Model(ids, tf.keras.layers.Dense(len(alphabet))(x))


model = language_model()
rate = tf.keras.optimizers.schedules.CosineDecayRestarts(1e-3, first_decay_steps=50, t_mul=1.0, m_mul=1.0, alpha=0.01)
optimizer = tf.keras.optimizers.AdamW(rate, weight_decay=0.01, clipnorm=1.0)
ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def step_fn(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


spec = tf.TensorSpec((BATCH, CONTEXT), tf.int32)
data = tf.data.Dataset.from_generator(windows, output_signature=(spec, spec)).prefetch(4)
log.info("%d characters, %d weights", len(codes), model.count_params())
began = time.time()
for step, (x, y) in enumerate(data, start=1):
    loss = step_fn(x, y)
    if step == 1 or step % 15 == 0:
        log.info("step %d loss %.4f elapsed %.1fs", step, float(loss), time.time() - began)
