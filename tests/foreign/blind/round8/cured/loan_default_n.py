# python: tensorflow
# expected: loss-output-mismatch [also accepted: loss-frozen]
# verdict: healthy|slow
# seconds: 30
# where: activation="softmax"
# Why: a softmax over one unit is 1 for every customer, so the binary cross-entropy never moves and no gradient reaches the weights.
import numpy as np
import keras
from keras import layers, ops

COLUMNS = ["income", "age", "open_lines", "utilisation", "late_30", "late_60", "late_90", "debt_ratio", "dependents",
           "years_employed", "savings", "rent"]


def customers(count, rng):
    table = rng.normal(size=(count, len(COLUMNS)))
    table[:, 4:7] = rng.poisson(0.6, size=(count, 3))
    risk = (
        -0.9 * table[:, 0] + 0.8 * table[:, 3] + 0.9 * table[:, 4] + 1.1 * table[:, 6]
        + 0.7 * table[:, 7] * table[:, 3] - 0.6 * table[:, 10] - 1.0
    )
    default = rng.random(count) < 1 / (1 + np.exp(-2 * risk))
    return table.astype("float32"), default.astype("float32")[:, None]


def standardise(table):
    return (table - table.mean(axis=0)) / table.std(axis=0)


def weighted_entropy(truth, chance):
    """A missed default costs twice as much as a refused customer."""
    chance = ops.clip(chance, 1e-6, 1 - 1e-6)
    return -ops.mean(2.0 * truth * ops.log(chance) + (1 - truth) * ops.log(1 - chance), axis=-1)


def make_network(width=384):
    inputs = keras.Input((len(COLUMNS),), name="customer")
    x = layers.Dense(width, activation="relu")(inputs)
    x = layers.Dropout(0.1)(x)
    x = layers.Dense(width, activation="relu")(x)
    x = layers.Dense(width, activation="relu")(x)
    outputs = layers.Dense(1, activation="sigmoid", name="default")(x)
    return keras.Model(inputs, outputs)


def main():
    keras.utils.set_random_seed(21)
    x, y = customers(60000, np.random.default_rng(21))
    x = standardise(x)
    print(f"{len(x)} customers, {y.mean():.1%} in default", flush=True)
    network = make_network()
    network.compile(optimizer=keras.optimizers.Adam(5e-4), loss=weighted_entropy, metrics=["accuracy"])
    network.fit(x, y, batch_size=256, epochs=400)


if __name__ == "__main__":
    main()
