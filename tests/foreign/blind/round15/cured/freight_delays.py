"""Which freight trains will be late? A two-tower model of trains and routes with a running AUC."""
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

ROWS = 400_000
TRAINS, ROUTES, NUMBERS = 3000, 800, 12
BATCH = 2048
EPOCHS = 100


def make_log(rng):
    train = rng.integers(0, TRAINS, ROWS)
    route = rng.integers(0, ROUTES, ROWS)
    numbers = rng.standard_normal((ROWS, NUMBERS), dtype="float32")
    wear, traffic = rng.standard_normal(TRAINS), rng.standard_normal(ROUTES)
    risk = 0.8 * wear[train] + traffic[route] + numbers[:, 0] * numbers[:, 1] + 0.5 * numbers[:, 2] - 0.7
    late = (rng.uniform(size=ROWS) < 1.0 / (1.0 + np.exp(-risk))).astype("float32")
    return train.astype("int32"), route.astype("int32"), numbers, late


def build():
    train, route = keras.Input((), dtype="int32"), keras.Input((), dtype="int32")
    numbers = keras.Input((NUMBERS,))
    left = keras.layers.Embedding(TRAINS, 16)(train)
    right = keras.layers.Embedding(ROUTES, 16)(route)
    x = keras.layers.Concatenate()([left, right, numbers])
    for width in (256, 128):
        x = keras.layers.Dense(width, activation="relu")(x)
    return keras.Model([train, route, numbers], keras.layers.Dense(1)(x))


class RunningAuc:
    """The share of pairs, one late and one not, that the scores put in the right order."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.scores, self.labels = np.empty(0, "float32"), np.empty(0, "float32")

    def update(self, scores, labels):
        self.scores = np.concatenate([self.scores, scores])[-10 * BATCH:]
        self.labels = np.concatenate([self.labels, labels])[-10 * BATCH:]

    def result(self):
        order = np.argsort(self.scores, kind="stable")
        late = self.labels[order] > 0.5
        on_time = len(late) - late.sum()
        return float((np.cumsum(~late) * late).sum() / max(1, late.sum() * on_time))


def main():
    keras.utils.set_random_seed(6)
    *features, late = make_log(np.random.default_rng(6))
    data = tf.data.Dataset.from_tensor_slices((tuple(features), late))
    data = data.batch(BATCH, drop_remainder=True).shuffle(200).prefetch(4)
    model, optimizer = build(), keras.optimizers.Adam(1e-3)
    entropy = keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def learn(inputs, labels):
        with tf.GradientTape() as tape:
            logits = model(list(inputs), training=True)[:, 0]
            loss = entropy(labels, logits)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss, logits

    auc, step, began = RunningAuc(), 0, time.time()
    for epoch in range(EPOCHS):
        for inputs, labels in data:
            loss, logits = learn(inputs, labels)
            step += 1
            auc.update(logits.numpy(), labels.numpy())
            print(f"epoch {epoch} step {step} loss {float(loss):.4f} auc {auc.result():.4f} {time.time() - began:.1f}s", flush=True)
    model.save("freight.keras")


if __name__ == "__main__":
    main()
