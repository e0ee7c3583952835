# python: tensorflow
# expected: dead-relu [also accepted: loss-frozen, loss-output-mismatch]
# verdict: healthy|slow|stuck
# seconds: 30
# where: activation="relu", name="log_s" / keras.layers.Dense(1
# Why: the output layer has a relu because "solubility is positive", but the target is its logarithm and always negative: the output is zero for all
# molecules within a few steps, no gradient passes any more and the loss stays at the mean square of the targets.
import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(21)
BITS = 512


def molecules(n):
    prints = (rng.random((n, BITS)) < 0.08).astype("float32")
    weight = np.random.default_rng(1).standard_normal(BITS).astype("float32") * 0.25
    log_s = -4.0 + prints @ weight + 0.2 * rng.standard_normal(n)
    return prints, np.minimum(log_s, -0.2).astype("float32")


x_train, y_train = molecules(24000)
x_test, y_test = molecules(2000)
print("log S between", y_train.min(), "and", y_train.max(), flush=True)

inputs = keras.Input((BITS,))
h = keras.layers.Dense(512, activation="relu")(inputs)
h = keras.layers.Dropout(0.1)(h)
h = keras.layers.Dense(256, activation="relu")(h)
out = keras.layers.Dense(1, activation="relu", name="log_s")(h)
model = keras.Model(inputs, out)
optimizer = keras.optimizers.Adam(1e-3)
mse = keras.losses.MeanSquaredError()

train = (tf.data.Dataset.from_tensor_slices((x_train, y_train[:, None]))
         .shuffle(8000).batch(128, drop_remainder=True).prefetch(2))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = mse(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


step = 0
for epoch in range(200):
    total, n = 0.0, 0
    for x, y in train:
        loss = train_step(x, y)
        step += 1
        total += float(loss)
        n += 1
        if step % 50 == 0:
            print(f"epoch {epoch} step {step} loss {total / n:.4f}", flush=True)
    pred = model.predict(x_test, batch_size=500, verbose=0)
    print(f"epoch {epoch} loss {total / n:.4f} test rmse {np.sqrt(np.mean((pred[:, 0] - y_test) ** 2)):.4f}", flush=True)
