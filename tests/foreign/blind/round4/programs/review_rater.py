# python: tensorflow
# expected: waits-for-terminal
# verdict: stuck
# seconds: 40
# where: input(
# Why: A callback asks on the terminal whether to go on once the validation loss has not improved; on a server overnight nobody answers.
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np

VOCAB, LENGTH = 5000, 60


def make_reviews(count, seed):
    rng = np.random.default_rng(seed)
    stars = rng.integers(0, 5, count)
    text = rng.integers(0, VOCAB, (count, LENGTH))
    for row, s in enumerate(stars):
        hints = rng.integers(0, LENGTH, 3)
        text[row, hints] = s * 40 + rng.integers(0, 40, 3)
    noisy = rng.random(count) < 0.45
    stars[noisy] = rng.integers(0, 5, noisy.sum())
    return text.astype(np.int32), stars.astype(np.int32)


class Supervisor(keras.callbacks.Callback):
    """Keeps the best weights and halves the learning rate."""

    def __init__(self, patience=2):
        super().__init__()
        self.patience = patience
        self.best = np.inf
        self.waited = 0
        self.best_weights = None

    def on_epoch_end(self, epoch, logs=None):
        value = logs["val_loss"]
        print(f"epoch {epoch} loss {logs['loss']:.4f} val_loss {value:.4f}", flush=True)
        if value < self.best - 1e-3:
            self.best, self.waited = value, 0
            self.best_weights = self.model.get_weights()
            return
        self.waited += 1
        if self.waited >= self.patience:
            answer = input("continue with half the learning rate? [Y/n] ")
            self.waited = 0
            if answer.strip().lower().startswith("n"):
                self.model.stop_training = True
                self.model.set_weights(self.best_weights)
            else:
                lr = self.model.optimizer.learning_rate
                lr.assign(lr * 0.5)


def build():
    return keras.Sequential([
        keras.Input((LENGTH,), dtype="int32"),
        keras.layers.Embedding(VOCAB, 32),
        keras.layers.Conv1D(64, 3, activation="relu"),
        keras.layers.GlobalMaxPooling1D(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(5),
    ])


def main():
    x, y = make_reviews(6000, 1)
    xv, yv = make_reviews(1500, 2)
    model = build()
    model.compile(
        keras.optimizers.Adam(3e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(x, y, validation_data=(xv, yv), batch_size=64, epochs=400, verbose=0, callbacks=[Supervisor()])


main()
