# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 22
# how: attach
# Why: prints through a pipe without flushing, so nothing is seen for minutes; the steps go on. At most a remark
# (output-buffered, severity info). By attach, for `run` gives a terminal, where nothing is held back.
import numpy as np
import tensorflow as tf

x = np.random.rand(4096, 28, 28, 1).astype(np.float32)
y = np.random.randint(0, 10, len(x))
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.Conv2D(64, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(10),
])
loss_function = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_function(labels, model(images, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


model(x[:1])
optimizer.build(model.trainable_variables)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096).batch(64).prefetch(2)
for epoch in range(100):
    for step, (images, labels) in enumerate(data):
        loss = train_step(images, labels)
        print(f"epoch {epoch} step {step} loss {float(loss):.4f}")
