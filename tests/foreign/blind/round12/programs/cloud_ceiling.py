# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 35
# Why: a frozen random feature bank, labels that are wrong one time in five (so the loss flattens high), a compiled first step; all meant so.
"""Nowcast the cloud ceiling class of an airfield from the last hours of ceilometer echoes."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

HOURS = 32
GATES = 40
CLASSES = 5


def make_echoes(n, seed):
    rng = np.random.default_rng(seed)
    height = np.linspace(0, 1, GATES, dtype="float32")
    base = rng.uniform(0.05, 0.95, (n, 1)) + np.cumsum(rng.normal(0, 0.015, (n, HOURS + 1)), 1)
    base = np.clip(base, 0.02, 0.98)
    echo = np.exp(-((height - base[:, :HOURS, None]) / 0.06) ** 2) + rng.normal(0, 0.25, (n, HOURS, GATES))
    y = np.minimum((base[:, HOURS] * CLASSES).astype(int), CLASSES - 1)
    slip = rng.random(n) < 0.2
    y[slip] = rng.integers(0, CLASSES, slip.sum())
    return echo.astype("float32"), y.astype("int32")


class Nowcaster(keras.Model):
    def __init__(self):
        super().__init__()
        self.bank = layers.Dense(192, activation="tanh", trainable=False)
        self.squeeze = layers.Dense(96, activation="relu")
        self.convs = [layers.Conv1D(96, 5, padding="causal", dilation_rate=d, activation="relu") for d in (1, 3, 9)]
        self.mix = [layers.Dense(96) for _ in range(3)]
        self.out = layers.Dense(CLASSES)

    def call(self, echo):
        x = self.squeeze(self.bank(echo))
        for conv, mix in zip(self.convs, self.mix):
            x = x + mix(conv(x))
        return self.out(x[:, -1])

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        norm = tf.linalg.global_norm(grads)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss, "norm": norm}


def main():
    keras.utils.set_random_seed(31)
    x, y = make_echoes(4000, 1)
    xv, yv = make_echoes(500, 2)
    data = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(2000).repeat().batch(64, drop_remainder=True)

    def flicker(echo, label):
        return echo * tf.random.uniform((64, 1, 1), 0.8, 1.2), label

    data = data.map(flicker, num_parallel_calls=2).prefetch(4)
    model = Nowcaster()
    model(x[:2])
    model.compile(optimizer=keras.optimizers.Adam(4e-4), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  jit_compile=True)

    def line(batch, logs):
        if batch % 5 == 0:
            print(f"  batch {batch:4d} loss {float(logs['loss']):.4f} norm {float(logs['norm']):.3f}", flush=True)

    def score(epoch, logs):
        guess = model.predict(xv, verbose=0).argmax(-1)
        print(f"epoch {epoch}: loss {float(logs['loss']):.4f}, right in {np.mean(guess == yv):.3f} of new cases", flush=True)

    model.fit(data, steps_per_epoch=125, epochs=600, verbose=0,
              callbacks=[keras.callbacks.LambdaCallback(on_train_batch_end=line, on_epoch_end=score)])


if __name__ == "__main__":
    main()
