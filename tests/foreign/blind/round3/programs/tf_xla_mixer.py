# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 45
# Why: looks suspicious because the first step takes long (XLA compiles a deep mixer for the CPU); after it the steps are steady until the end.
import time
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

PATCHES, DIM, DEPTH, CLASSES = 36, 96, 6, 10
rng = np.random.default_rng(0)
x = rng.standard_normal((4096, PATCHES, 48)).astype("float32")
proto = rng.standard_normal((CLASSES, PATCHES, 48)).astype("float32")
y = rng.integers(0, CLASSES, 4096)
x += 0.25 * proto[y]

inp = keras.Input((PATCHES, 48))
h = layers.Dense(DIM)(inp)
for _ in range(DEPTH):
    z = layers.LayerNormalization()(h)
    z = layers.Permute((2, 1))(z)
    z = layers.Dense(64, activation="gelu")(z)
    z = layers.Dense(PATCHES)(z)
    h = h + layers.Permute((2, 1))(z)
    z = layers.LayerNormalization()(h)
    z = layers.Dense(192, activation="gelu")(z)
    h = h + layers.Dense(DIM)(z)
out = layers.Dense(CLASSES)(layers.GlobalAveragePooling1D()(layers.LayerNormalization()(h)))
model = keras.Model(inp, out)
optimizer = keras.optimizers.Adam(5e-4)
optimizer.build(model.trainable_variables)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function(jit_compile=True)
def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(images, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096).repeat().batch(32, drop_remainder=True).prefetch(2)
start = time.time()
for step, (images, labels) in enumerate(ds.take(5000)):
    loss = train_step(images, labels)
    if step == 0:
        print(f"ready after {time.time() - start:.1f} s", flush=True)
    if step % 10 == 0:
        print(f"step {step} loss {float(loss):.4f}", flush=True)
