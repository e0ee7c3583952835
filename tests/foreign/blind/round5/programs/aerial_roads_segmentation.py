# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: a batch of one, as usual for large aerial tiles: one tile already fills the cores, the next is made in the background.
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import time

import numpy as np
import tensorflow as tf

TILE = 384
L = tf.keras.layers


def scene(size=2048, roads=60, seed=12):
    """A large orthophoto and its road mask."""
    rng = np.random.default_rng(seed)
    photo = rng.normal(0.35, 0.06, (size, size, 3)).astype("float32")
    mask = np.zeros((size, size), "uint8")
    for _ in range(roads):
        w, at = int(rng.integers(8, 22)), int(rng.integers(0, size - 24))
        if rng.random() < 0.5:
            mask[at:at + w, :] = 1
        else:
            mask[:, at:at + w] = 1
    photo[mask == 1] += np.array([0.2, 0.2, 0.22], "float32") * rng.uniform(0.6, 1.0)
    return photo, mask[..., None]


photo, mask = scene()
photo_t, mask_t = tf.constant(photo), tf.constant(mask)


def cut(_):
    y = tf.random.uniform((), 0, photo.shape[0] - TILE, tf.int32)
    x = tf.random.uniform((), 0, photo.shape[1] - TILE, tf.int32)
    img = photo_t[y:y + TILE, x:x + TILE]
    lab = tf.cast(mask_t[y:y + TILE, x:x + TILE], tf.float32)
    return tf.ensure_shape(img, (TILE, TILE, 3)), tf.ensure_shape(lab, (TILE, TILE, 1))


tiles = tf.data.Dataset.range(2 ** 40).map(cut, num_parallel_calls=2).batch(1).prefetch(4)


def block(h, width):
    for _ in range(2):
        h = L.Conv2D(width, 3, padding="same", use_bias=False)(h)
        h = L.GroupNormalization(4)(h)
        h = L.ReLU()(h)
    return h


def unet():
    inp = tf.keras.Input((TILE, TILE, 3))
    h = L.Conv2D(12, 3, strides=2, padding="same")(inp)
    skips = []
    for width in (12, 24, 48):
        h = block(h, width)
        skips.append(h)
        h = L.MaxPool2D()(h)
    h = block(h, 64)
    for width, skip in zip((48, 24, 12), reversed(skips)):
        h = L.Concatenate()([L.UpSampling2D()(h), skip])
        h = block(h, width)
    return tf.keras.Model(inp, L.Conv2D(1, 1)(L.UpSampling2D()(h)))


net = unet()
opt = tf.keras.optimizers.AdamW(1e-3, weight_decay=1e-5)


@tf.function(reduce_retracing=True)
def train(img, lab):
    with tf.GradientTape() as tape:
        logit = net(img, training=True)
        bce = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(lab, logit))
        p = tf.sigmoid(logit)
        dice = 1 - (2 * tf.reduce_sum(p * lab) + 1) / (tf.reduce_sum(p) + tf.reduce_sum(lab) + 1)
        loss = bce + dice
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


tic = time.time()
for i, (img, lab) in enumerate(tiles, 1):
    loss = train(img, lab)
    if i % 10 == 0:
        print(f"tile {i:5d} | loss {loss.numpy():.4f} | {10 / (time.time() - tic):.2f} tiles/s", flush=True)
        tic = time.time()
