# python: tensorflow
# expected: slow-callback [also accepted: slow-storage]
# verdict: slow
# seconds: 35
# where: ModelCheckpoint( / save_freq=
# Why: save_freq=5 was meant as "every five epochs", but Keras counts batches: the whole model with its optimizer is written every five batches.
import os
import tempfile
import numpy as np
from tensorflow import keras

rng = np.random.default_rng(3)
N_ROWS, N_COLS = 40000, 120
x = rng.standard_normal((N_ROWS, N_COLS)).astype("float32")
w = rng.standard_normal((N_COLS, 6)).astype("float32")
y = np.argmax(x @ w + np.sin(3 * x[:, :6]), axis=1)
x_val, y_val = x[:2000], y[:2000]
x, y = x[2000:], y[2000:]

inputs = keras.Input((N_COLS,))
h = inputs
for width in (1024, 1024, 512):
    h = keras.layers.Dense(width, activation="relu")(h)
    h = keras.layers.Dropout(0.1)(h)
outputs = keras.layers.Dense(6, activation="softmax")(h)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(3e-4),
              loss="sparse_categorical_crossentropy",
              metrics=["accuracy"])


class Progress(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.seen = 0

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.seen % 20 == 0:
            print(f"batch {self.seen} loss {logs['loss']:.4f} acc {logs['accuracy']:.3f}", flush=True)


run_dir = tempfile.mkdtemp(prefix="tabular_")
callbacks = [
    keras.callbacks.ModelCheckpoint(
        os.path.join(run_dir, "model.keras"),
        save_freq=5 * (len(x) // 64),
    ),
    keras.callbacks.EarlyStopping(monitor="val_loss", patience=30),
    Progress(),
]
model.fit(x, y, batch_size=64, epochs=60, validation_data=(x_val, y_val),
          callbacks=callbacks, verbose=0)
