# python: tensorflow
# The twin without the fault.
import argparse
import time

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--writers", type=int, default=60)
parser.add_argument("--each", type=int, default=40)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--lr", type=float, default=5e-4)
parser.add_argument("--margin", type=float, default=1.0)
args = parser.parse_args()


def scans():
    rng = np.random.default_rng(21)
    t = np.linspace(0, 1, 160)
    images = np.zeros((args.writers, args.each, 48, 96, 1), np.float32)
    for w in range(args.writers):
        freq = rng.uniform(2, 9, 3)
        phase = rng.uniform(0, 6.28, 3)
        for e in range(args.each):
            jitter = rng.normal(0, 0.12, 3)
            y = sum(np.sin(6.28 * f * t + p + j) for f, p, j in zip(freq, phase, jitter))
            row = np.clip(24 + 6 * y + rng.normal(0, 0.4, t.size), 0, 47).astype(int)
            images[w, e, row, (t * 95).astype(int), 0] = 1.0
    return images


class Sampler:
    """Some writers, some signatures of each."""

    def __init__(self, images, batch, per_writer=4):
        self.images, self.batch, self.per_writer = images, batch, per_writer
        self.rng = np.random.default_rng(8)

    def draw(self):
        n_writers, n_each = self.images.shape[:2]
        writer = self.rng.permutation(n_writers)[:self.batch // self.per_writer].repeat(self.per_writer)
        return self.images[writer, self.rng.integers(0, n_each, len(writer))], writer


tower = tf.keras.Sequential([
    tf.keras.Input((48, 96, 1)),
    tf.keras.layers.Conv2D(24, 5, padding="same", activation="relu"),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Conv2D(48, 3, padding="same", activation="relu"),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Conv2D(64, 3, padding="same", activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(32),
])
optimizer = tf.keras.optimizers.Adam(args.lr)
optimizer.build(tower.trainable_variables)


@tf.function
def update(images, writer):
    same = tf.cast(writer[:, None] == writer[None, :], tf.float32)
    with tf.GradientTape() as tape:
        code = tower(images, training=True)
        squared = tf.reduce_sum(tf.square(code[:, None] - code[None, :]), axis=-1)
        distance = tf.sqrt(squared + 1e-9)
        pull = same * distance
        push = (1.0 - same) * tf.square(tf.maximum(args.margin - distance, 0.0))
        loss = tf.reduce_mean(pull + push)
    grads = tape.gradient(loss, tower.trainable_variables)
    optimizer.apply_gradients(zip(grads, tower.trainable_variables))
    return loss


sampler = Sampler(scans(), args.batch)
start = time.time()
step = 0
while True:
    images, writer = sampler.draw()
    loss = update(images, writer)
    step += 1
    if step % 10 == 0 or step == 1:
        print(f"step {step} | contrastive loss {loss.numpy():.5f} | {step / (time.time() - start):.1f} it/s", flush=True)
