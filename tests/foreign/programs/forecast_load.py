# python: tensorflow
# expected: retracing
# verdict: slow
# seconds: 18
# where: train_step
# Why: the step number is a Python int, so every call of the tf.function has another signature and is traced anew.
import numpy as np
import tensorflow as tf

layers = [tf.keras.layers.Dense(64, activation="relu") for _ in range(4)]
model = tf.keras.Sequential(layers + [tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-3)
history = np.random.randn(20000, 48).astype(np.float32)
target = history[:, :4].sum(axis=1, keepdims=True)
model(history[:1])
optimizer.build(model.trainable_variables)


@tf.function
def train_step(x, y, step):
    rate = 1e-3 * 0.5 ** (step / 1000)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.learning_rate.assign(rate)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for step in range(100000):
    rows = np.random.randint(0, len(history), 64)
    loss = train_step(history[rows], target[rows], step)
    if step % 10 == 0:
        print(f"step {step} loss {float(loss):.4f}", flush=True)
