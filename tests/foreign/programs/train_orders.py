# python: tensorflow
# expected: gradient-not-connected [also accepted: weights-not-updated, loss-frozen]
# verdict: slow|healthy
# seconds: 18
# where: predicted =
# Why: tf.round has no gradient, so nothing flows to the first layers; Keras warns "Gradients do not exist" once, in the
# middle of other lines.
import numpy as np
import tensorflow as tf

x = np.random.rand(8192, 16).astype(np.float32)
y = x.sum(axis=1, keepdims=True)
body = tf.keras.Sequential([tf.keras.layers.Dense(128, activation="relu"), tf.keras.layers.Dense(1)])
scale = tf.keras.layers.Dense(1)
optimizer = tf.keras.optimizers.Adam(1e-3)
scale(body(x[:1]))
weights = body.trainable_variables + scale.trainable_variables
optimizer.build(weights)


@tf.function
def train_step(orders, totals):
    with tf.GradientTape() as tape:
        predicted = scale(tf.cast(tf.cast(body(orders), tf.int32), tf.float32))
        loss = tf.reduce_mean(tf.square(predicted - totals))
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


for epoch in range(10000):
    for step in range(128):
        rows = slice(step * 64, (step + 1) * 64)
        loss = train_step(x[rows], y[rows])
    print(f"epoch {epoch} loss {float(loss):.4f}", flush=True)
