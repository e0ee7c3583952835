# python: tensorflow
# expected: crashed
# verdict: crashed
# seconds: 30
# where: model.fit
# seed: 003-1 as written, 003-2 as written, 003-3 as written
# Why: x_train was never made: NameError, before anything is slow.
import tensorflow as tf

model = tf.keras.Sequential([
    tf.keras.layers.Input((13,)),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(3, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x_train, y_train, epochs=10, batch_size=32)
