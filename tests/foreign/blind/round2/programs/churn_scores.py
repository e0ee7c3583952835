# python: tensorflow
# expected: slow-callback [also accepted: hidden-validation, hot-line]
# verdict: slow
# seconds: 35
# where: self.model.predict / on_train_batch_end
# Why: the metric callback predicts the whole hold-out set after every batch; people move the hook from epoch to batch "to see a finer curve" and forget it.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
from keras import layers

rng = np.random.default_rng(11)
N_CUSTOMERS, N_COLUMNS = 60000, 48


def make_customers(n):
    x = rng.normal(size=(n, N_COLUMNS)).astype("float32")
    w = rng.normal(size=N_COLUMNS) / 4
    logit = x @ w + 0.6 * x[:, 0] * x[:, 3] - 1.2
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype("float32")
    return x, y


def rank_auc(y, score):
    order = np.argsort(score)
    ranks = np.empty(len(score))
    ranks[order] = np.arange(1, len(score) + 1)
    pos = y == 1
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return (ranks[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


class HoldoutAUC(keras.callbacks.Callback):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y
        self.best = 0.0
        self.curve = []

    def on_train_batch_end(self, batch, logs=None):
        score = self.model.predict(self.x, batch_size=512, verbose=0)[:, 0]
        auc = rank_auc(self.y, score)
        self.curve.append(float(auc))
        self.best = max(self.best, auc)

    def on_epoch_end(self, epoch, logs=None):
        print(f"  hold-out auc {self.curve[-1]:.4f} best {self.best:.4f}", flush=True)


def build():
    inp = keras.Input((N_COLUMNS,))
    h = layers.BatchNormalization()(inp)
    for width in (256, 128, 64):
        h = layers.Dense(width, activation="relu")(h)
        h = layers.Dropout(0.2)(h)
    out = layers.Dense(1, activation="sigmoid")(h)
    model = keras.Model(inp, out)
    model.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy", metrics=["accuracy"])
    return model


def main():
    x, y = make_customers(N_CUSTOMERS)
    xh, yh = x[:10000], y[:10000]
    xt, yt = x[10000:], y[10000:]
    model = build()
    model.fit(xt, yt, batch_size=256, epochs=60, callbacks=[HoldoutAUC(xh, yh)])


if __name__ == "__main__":
    main()
