# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 22
# seed: 002-2 supplied
# Why: a VGG-like net without tf.function, at a batch of 32 on the CPU: seconds per step, all of it arithmetic.
import numpy as np
import tensorflow as tf

layers = [tf.keras.layers.Input((64, 64, 3))]
for width in (32, 64, 128):
    layers += [tf.keras.layers.Conv2D(width, 3, padding="same", activation="relu") for _ in range(2)]
    layers.append(tf.keras.layers.MaxPooling2D(2))
layers += [tf.keras.layers.Flatten(), tf.keras.layers.Dense(256, activation="relu"),
           tf.keras.layers.Dense(10, activation="softmax")]
model = tf.keras.Sequential(layers)
optimizer = tf.keras.optimizers.Adam()
loss_function = tf.keras.losses.SparseCategoricalCrossentropy()
images = np.random.rand(512, 64, 64, 3).astype(np.float32)
labels = np.random.randint(0, 10, len(images))
data = tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(32).prefetch(tf.data.AUTOTUNE)
for step, (x, y) in enumerate(data):
    with tf.GradientTape() as tape:
        loss = loss_function(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    print(f"step {step} loss {float(loss):.4f}", flush=True)
