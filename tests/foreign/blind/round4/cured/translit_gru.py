import math
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

VOCAB_IN, VOCAB_OUT, LENGTH, BATCH = 64, 96, 24, 64
TOTAL = 20000
WARMUP = 400


class Transliterator(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(VOCAB_IN, 64)
        self.encoder = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(96, return_sequences=True))
        self.mixer = tf.keras.layers.GRU(128, return_sequences=True)
        self.out = tf.keras.layers.Dense(VOCAB_OUT)

    def call(self, tokens, training=False):
        h = self.embed(tokens)
        h = self.encoder(h, training=training)
        h = self.mixer(h, training=training)
        return self.out(h)


def make_pairs(count, seed=3):
    rng = np.random.default_rng(seed)
    source = rng.integers(0, VOCAB_IN, size=(count, LENGTH)).astype(np.int32)
    shifted = np.roll(source, 1, axis=1)
    target = ((source * 3 + shifted) % VOCAB_OUT).astype(np.int32)
    return source, target


def schedule(step):
    if step < WARMUP:
        return 2e-3 * (step + 1) / WARMUP
    return 1e-3 * (1 + math.cos(math.pi * step / TOTAL))


model = Transliterator()
optimizer = tf.keras.optimizers.Adam(1e-3)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y, lr):
    optimizer.learning_rate.assign(lr)
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def main():
    source, target = make_pairs(20000)
    data = tf.data.Dataset.from_tensor_slices((source, target))
    data = data.shuffle(20000).repeat().batch(BATCH, drop_remainder=True).prefetch(2)
    model(tf.zeros((1, LENGTH), tf.int32))
    optimizer.build(model.trainable_variables)
    running = 0.0
    for step, (x, y) in enumerate(data.take(TOTAL)):
        lr = schedule(step)
        loss = train_step(x, y, tf.constant(lr))
        running = 0.95 * running + 0.05 * float(loss) if step else float(loss)
        if step % 5 == 0:
            print(f"step {step} lr {lr:.2e} loss {running:.4f}", flush=True)


main()
