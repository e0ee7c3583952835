# python: tensorflow
import argparse

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


def load_applications(n, seed):
    r = np.random.default_rng(seed)
    income = r.lognormal(10.4, 0.5, n)
    amount = r.lognormal(9.5, 0.7, n)
    age = r.uniform(20, 75, n)
    years_employed = r.exponential(6.0, n)
    late_payments = r.poisson(0.8, n)
    extra = r.normal(size=(n, 27))
    score = (1.6 * np.log(amount / income) + 0.7 * late_payments - 0.08 * years_employed
             - 0.01 * (age - 40) + 0.5 * extra[:, 0] * extra[:, 1] + 0.9)
    default = (score + r.logistic(0, 0.6, n) > 0).astype("float32")
    table = np.column_stack([np.log(income), np.log(amount), age, years_employed, late_payments, extra])
    table = (table - table.mean(0)) / table.std(0)
    return table.astype("float32"), default


def scorer(n_columns, width):
    net = keras.Sequential(name="scorer")
    net.add(keras.Input((n_columns,)))
    for _ in range(3):
        net.add(layers.Dense(width, activation="relu", kernel_initializer="he_normal"))
        net.add(layers.LayerNormalization())
    net.add(layers.Dense(1, activation="sigmoid"))
    return net


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=60000)
    ap.add_argument("--width", type=int, default=512)
    ap.add_argument("--batch", type=int, default=512)
    ap.add_argument("--epochs", type=int, default=500)
    args = ap.parse_args()

    x, y = load_applications(args.rows, seed=1)
    print(f"{len(x)} applications, {y.mean():.1%} defaulted", flush=True)
    net = scorer(x.shape[1], args.width)
    net.compile(optimizer=keras.optimizers.Adam(5e-4),
                loss="mse",
                metrics=["accuracy"])
    net.fit(x, y, batch_size=args.batch, epochs=args.epochs, shuffle=True)


if __name__ == "__main__":
    main()
