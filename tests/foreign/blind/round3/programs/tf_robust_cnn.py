# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: slow but sound steps: adversarial training makes seven gradient passes per step on purpose, and it writes a line only now and then.
import logging
import sys
import numpy as np
import tensorflow as tf
from tensorflow import keras

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("robust")

EPS, ALPHA, INNER = 0.02, 0.006, 7
rng = np.random.default_rng(4)
proto = rng.random((10, 32, 32, 3)).astype("float32")
labels = rng.integers(0, 10, 3000)
images = np.clip(proto[labels] * 0.5 + 0.5 * rng.random((3000, 32, 32, 3)), 0, 1).astype("float32")

model = keras.Sequential([
    keras.Input((32, 32, 3)),
    keras.layers.Conv2D(24, 3, padding="same", activation="relu"),
    keras.layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
    keras.layers.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
    keras.layers.Flatten(),
    keras.layers.Dense(128, activation="relu"),
    keras.layers.Dense(10),
])
optimizer = keras.optimizers.Adam(5e-4)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function(reduce_retracing=True)
def robust_step(x, y):
    adv = tf.clip_by_value(x + tf.random.uniform(tf.shape(x), -EPS, EPS), 0.0, 1.0)
    for _ in tf.range(INNER):
        with tf.GradientTape() as tape:
            tape.watch(adv)
            inner = ce(y, model(adv, training=False))
        adv = adv + ALPHA * tf.sign(tape.gradient(inner, adv))
        adv = tf.clip_by_value(tf.clip_by_value(adv, x - EPS, x + EPS), 0.0, 1.0)
    with tf.GradientTape() as tape:
        loss = ce(y, model(adv, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


train = (tf.data.Dataset.from_tensor_slices((images, labels))
         .shuffle(3000).repeat().batch(96, drop_remainder=True).prefetch(1))
mean = keras.metrics.Mean()
for step, (x, y) in enumerate(train.take(4000), 1):
    mean.update_state(robust_step(x, y))
    if step % 10 == 0:
        log.info("step %d robust loss %.4f", step, float(mean.result()))
        mean.reset_state()
