# python: tensorflow
# expected: first-step-compiling
# verdict: slow|not-started|healthy
# seconds: 30
# where: model.fit
# severity: info
# Why: jit_compile=True and a deep graph: TensorFlow traces it, then XLA compiles it, for half a minute and more before the
# first step. Nothing is stuck, so that saying it is enough.
import numpy as np
import tensorflow as tf


def block(x, width):
    shortcut = x
    x = tf.keras.layers.Conv2D(width, 3, padding="same")(x)
    x = tf.keras.layers.BatchNormalization()(x)
    x = tf.keras.layers.Activation("gelu")(x)
    x = tf.keras.layers.Conv2D(width, 3, padding="same")(x)
    x = tf.keras.layers.LayerNormalization()(x)
    return tf.keras.layers.Add()([x, shortcut])


inputs = tf.keras.Input((32, 32, 3))
x = tf.keras.layers.Conv2D(16, 3, padding="same")(inputs)
for _ in range(24):
    x = block(x, 16)
outputs = tf.keras.layers.Conv2D(4, 1, activation="softmax")(x)
model = tf.keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy", jit_compile=True)
images = np.random.rand(512, 32, 32, 3).astype(np.float32)
masks = np.random.randint(0, 4, (512, 32, 32))
model.fit(images, masks, batch_size=8, epochs=5)
