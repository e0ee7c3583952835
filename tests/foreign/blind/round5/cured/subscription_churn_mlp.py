# python: tensorflow
# expected: loss-output-mismatch [also accepted: loss-frozen]
# verdict: healthy|slow
# seconds: 25
# where: loss="categorical_crossentropy" / Dense(1 / model.fit
# Why: categorical cross-entropy normalises over the one output unit, which gives 1 always: the loss is 0 from the start and nothing is learnt.
"""Who cancels next month? Tabular churn model on 24 monthly usage features."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
from keras import Sequential, Input
from keras.layers import BatchNormalization, Dense, Dropout
from keras.optimizers import Adam


def load_customers(n=120_000, seed=42):
    rng = np.random.default_rng(seed)
    tenure = rng.exponential(24, n)
    usage = rng.gamma(2.0, 10.0, (n, 12)) * (1 + 0.02 * rng.standard_normal((n, 12))).cumprod(1)
    tickets = rng.poisson(0.6, n)
    late = rng.poisson(0.3, n)
    price = rng.choice([9.99, 14.99, 29.99], n)
    extra = rng.standard_normal((n, 8))
    trend = usage[:, -3:].mean(1) / usage[:, :3].mean(1)
    score = 0.9 * tickets + 1.1 * late - 0.05 * tenure - 2.2 * (trend - 1) + 0.04 * (price - 15) - 0.2
    churn = rng.random(n) < 1 / (1 + np.exp(-score))
    x = np.column_stack([tenure, usage, tickets, late, price, extra]).astype("float32")
    return x, churn.astype("float32")


def standardise(train, test):
    mean, std = train.mean(0), train.std(0) + 1e-6
    return (train - mean) / std, (test - mean) / std


x, y = load_customers()
split = int(0.8 * len(x))
x_train, x_test = standardise(x[:split], x[split:])
y_train, y_test = y[:split], y[split:]
print(f"{split} customers, churn rate {y_train.mean():.3f}", flush=True)

model = Sequential([
    Input((x.shape[1],)),
    Dense(256, activation="relu"),
    BatchNormalization(),
    Dropout(0.2),
    Dense(128, activation="relu"),
    Dense(64, activation="relu"),
    Dense(1, activation="sigmoid"),
])
model.compile(optimizer=Adam(1e-3), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=128, epochs=500, validation_data=(x_test, y_test), validation_freq=2)
