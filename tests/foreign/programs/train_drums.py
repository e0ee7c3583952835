# python: tensorflow
# expected: host-memory-leak [also accepted: step-time-grows]
# verdict: slow|healthy
# seconds: 22
# where: outputs.append
# Why: every step's output is kept in a list "for later"; memory rises in a straight line (about 40 MB a second) until
# the machine has no more.
import numpy as np
import tensorflow as tf

x = np.random.randn(4096, 512).astype(np.float32)
y = np.random.randn(4096, 2048).astype(np.float32)
model = tf.keras.Sequential([
    tf.keras.layers.Dense(512, activation="relu"),
    tf.keras.layers.Dense(2048),
])
optimizer = tf.keras.optimizers.Adam(1e-3)
model(x[:1])
optimizer.build(model.trainable_variables)


@tf.function
def train_step(images, targets):
    with tf.GradientTape() as tape:
        predicted = model(images, training=True)
        loss = tf.reduce_mean(tf.square(predicted - targets))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss, predicted


outputs = []
for epoch in range(200):
    for step in range(16):
        rows = slice(step * 256, (step + 1) * 256)
        loss, predicted = train_step(x[rows], y[rows])
        outputs.append(predicted)
        print(f"epoch {epoch} step {step}/16 loss {float(loss):.4f}", flush=True)
