# python: tensorflow
# expected: healthy
# verdict: finished|healthy
# seconds: 30
# seed: 002-3
# Why: an eager loop with clipped gradients over a small set; it is over in a few seconds and prints nothing.
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([
    tf.keras.layers.Dense(16, activation="relu", kernel_initializer="he_normal"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
optimizer = tf.keras.optimizers.Adam(0.001)
loss_function = tf.keras.losses.BinaryCrossentropy()
x = np.random.randn(2000, 10).astype(np.float32)
y = (x[:, :1] > 0).astype(np.float32)
for images, labels in tf.data.Dataset.from_tensor_slices((x, y)).repeat(3).batch(32):
    with tf.GradientTape() as tape:
        loss = loss_function(labels, model(images))
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients = [tf.clip_by_value(g, -1.0, 1.0) for g in gradients]
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
