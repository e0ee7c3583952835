# python: tensorflow
# expected: loss-output-mismatch [also accepted: loss-frozen, gradient-not-connected, weights-not-updated, vanishing-gradients]
# verdict: healthy|slow|stuck
# seconds: 30
# where: activation="softmax" / loss="mse"
# Why: The last layer is a softmax over one unit, which is always 1, trained with the Brier score; the loss never moves. It happens when a multi-class example is cut down to two classes.
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np

FEATURES = 40


def customers(count=60000, seed=11):
    rng = np.random.default_rng(seed)
    months = rng.gamma(2.0, 12.0, count)
    usage = rng.standard_normal((count, FEATURES - 3)).astype(np.float32)
    calls = rng.poisson(1.5, count)
    fee = rng.normal(40, 10, count)
    score = 0.9 * calls - 0.05 * months + 0.03 * (fee - 40) + usage[:, 0] - usage[:, 1] * usage[:, 2]
    left = (score + rng.logistic(size=count) > 0.6).astype(np.float32)
    columns = np.stack([months / 24, calls, (fee - 40) / 10], axis=1)
    return np.concatenate([columns, usage], axis=1).astype(np.float32), left


def build(width=256):
    inputs = keras.Input((FEATURES,))
    h = keras.layers.Dense(width, activation="relu")(inputs)
    for _ in range(3):
        r = keras.layers.Dense(width, activation="relu")(h)
        r = keras.layers.Dropout(0.1)(r)
        h = keras.layers.Add()([h, r])
        h = keras.layers.LayerNormalization()(h)
    outputs = keras.layers.Dense(1, activation="softmax")(h)
    return keras.Model(inputs, outputs)


def main():
    x, y = customers()
    split = int(len(x) * 0.9)
    model = build()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="mse",
    )
    model.summary()
    step = {"n": 0}

    def report(batch, logs):
        step["n"] += 1
        if step["n"] % 25 == 0:
            print(f"step {step['n']} loss {logs['loss']:.4f}", flush=True)

    model.fit(
        x[:split], y[:split],
        validation_data=(x[split:], y[split:]),
        batch_size=256,
        epochs=200,
        verbose=0,
        callbacks=[keras.callbacks.LambdaCallback(on_train_batch_end=report)],
    )


if __name__ == "__main__":
    main()
