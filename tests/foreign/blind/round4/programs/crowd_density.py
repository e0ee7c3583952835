# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: Looks suspicious because one step takes about a second (large images, a wide convolution net), it prints seldom and the loss hardly moves any more; the steps are sound and all the time is spent in the convolutions.
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

SIDE, BATCH = 128, 12


def conv(filters, stride=1):
    return tf.keras.layers.Conv2D(filters, 3, strides=stride, padding="same", activation="relu")


def build():
    return tf.keras.Sequential([
        tf.keras.Input((SIDE, SIDE, 3)),
        conv(32), conv(32), conv(64, 2), conv(64), conv(96, 2), conv(96),
        tf.keras.layers.Conv2D(1, 1, activation="softplus"),
    ])


def scenes(count=240, seed=4):
    rng = np.random.default_rng(seed)
    images = rng.random((count, SIDE, SIDE, 3), dtype=np.float32) * 0.3
    density = np.zeros((count, SIDE // 4, SIDE // 4, 1), np.float32)
    for i in range(count):
        for y, x in rng.integers(2, SIDE - 2, (20, 2)):
            images[i, y - 2:y + 2, x - 2:x + 2] += 0.6
            density[i, y // 4, x // 4, 0] += 1.0
    return images, density


model = build()
optimizer = tf.keras.optimizers.Adam(2e-4)


@tf.function
def train_step(images, density):
    with tf.GradientTape() as tape:
        predicted = model(images, training=True)
        loss = tf.reduce_mean(tf.square(predicted - density))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def main():
    images, density = scenes()
    data = tf.data.Dataset.from_tensor_slices((images, density))
    data = data.shuffle(240).repeat().batch(BATCH).prefetch(tf.data.AUTOTUNE)
    recent = []
    for step, (x, y) in enumerate(data.take(5000)):
        recent.append(float(train_step(x, y)))
        if step % 4 == 0:
            print(f"step {step} loss {np.mean(recent):.4f}", flush=True)
            recent.clear()


main()
