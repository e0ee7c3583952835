# python: tensorflow
# expected: retracing
# verdict: slow
# seconds: 40
# where: train_step(x, y, lr) / def train_step / opt.apply_gradients / tape.gradient
# Why: the learning rate of the warm-up goes into the tf.function as a Python float, so every step has a new signature and is traced anew.
import math
import time

import numpy as np
import tensorflow as tf

IMG = 48
CLASSES = 6
BATCH = 32
PEAK_LR = 2e-3
WARMUP = 1500
TOTAL = 60000


def make_photos(n, seed=3):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, n).astype("int32")
    photos = rng.normal(0.45, 0.1, (n, IMG, IMG, 3)).astype("float32")
    yy, xx = np.mgrid[0:IMG, 0:IMG]
    for i, lab in enumerate(labels):
        cy, cx = rng.integers(10, IMG - 10, 2)
        spot = np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (8.0 + 12 * lab))
        photos[i, :, :, lab % 3] += 0.5 * spot
    return photos, labels


def conv_block(x, filters):
    x = tf.keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = tf.keras.layers.BatchNormalization()(x)
    x = tf.keras.layers.ReLU()(x)
    return tf.keras.layers.MaxPooling2D()(x)


def build():
    inp = tf.keras.Input((IMG, IMG, 3))
    x = conv_block(inp, 16)
    x = conv_block(x, 32)
    x = conv_block(x, 64)
    x = tf.keras.layers.GlobalAveragePooling2D()(x)
    x = tf.keras.layers.Dense(64, activation="relu")(x)
    return tf.keras.Model(inp, tf.keras.layers.Dense(CLASSES)(x))


def lr_at(step):
    if step < WARMUP:
        return PEAK_LR * (step + 1) / WARMUP
    done = (step - WARMUP) / (TOTAL - WARMUP)
    return PEAK_LR * 0.5 * (1 + math.cos(math.pi * done))


model = build()
opt = tf.keras.optimizers.Adam(PEAK_LR)
opt.build(model.trainable_variables)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y, lr):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.learning_rate.assign(lr)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


photos, labels = make_photos(3000)
ds = (tf.data.Dataset.from_tensor_slices((photos, labels))
      .shuffle(3000).repeat().batch(BATCH, drop_remainder=True).prefetch(2))

t0 = time.time()
for step, (x, y) in enumerate(ds):
    lr = lr_at(step)
    loss = train_step(x, y, lr)
    if step % 5 == 0:
        print(f"step {step:5d}  lr {lr:.2e}  loss {float(loss):.4f}  {time.time() - t0:6.1f}s", flush=True)
    if step >= TOTAL:
        break
model.save("tulips.keras")
