# python: tensorflow
# expected: weights-not-updated
# verdict: slow
# seconds: 25
# where: Adam(
# Why: 1 // 4 is 0: every gradient is cut down to nothing, the optimizer applies zeros, and no weight moves.
import keras
import numpy as np
import tensorflow as tf

PARTS = 4
LIMIT = 1 // PARTS

rng = np.random.default_rng(3)
light, depth = rng.random((6000, 24)).astype("float32"), rng.random((6000, 1)).astype("float32")
cover = np.tanh(light[:, :6].sum(1, keepdims=True) - 3 * depth) + rng.normal(0, 0.05, (6000, 1)).astype("float32")
samples = tf.data.Dataset.from_tensor_slices((np.hstack([light, depth]), cover.astype("float32"))).shuffle(6000).repeat().batch(64)

inputs = keras.Input((25,))
x = keras.layers.Dense(256, activation="relu")(inputs)
x = keras.layers.Dense(256, activation="relu")(x)
model = keras.Model(inputs, keras.layers.Dense(1)(x))
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def learn(features, wanted):
    with tf.GradientTape() as tape:
        off = tf.reduce_mean(tf.abs(model(features, training=True) - wanted))
    gradients = [tf.clip_by_norm(each, LIMIT) for each in tape.gradient(off, model.trainable_variables)]
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return off


for step, (features, wanted) in enumerate(samples, 1):
    off = learn(features, wanted)
    if step % 50 == 0:
        print(f"step {step} loss {float(off):.4f}", flush=True)
