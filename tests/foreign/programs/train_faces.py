# python: tensorflow
# expected: hidden-validation
# verdict: slow|healthy
# seconds: 22
# severity: info
# Why: 30 training steps, then a validation set a hundred times as large; the bar stands at 30/30 for minutes.
import numpy as np
import tensorflow as tf

x = np.random.rand(960, 48, 48, 1).astype(np.float32)
y = np.random.randint(0, 20, len(x))
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(960).batch(32).prefetch(2)
validation = tf.data.Dataset.from_tensor_slices((x, y)).repeat(100).batch(32).prefetch(2)

model = tf.keras.Sequential([
    tf.keras.layers.Input((48, 48, 1)),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.Conv2D(64, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(20, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train, validation_data=validation, epochs=20)
