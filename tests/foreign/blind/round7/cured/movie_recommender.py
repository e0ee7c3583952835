# python: tensorflow
# The twin without the fault.
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
from tensorflow import keras

N_USERS, N_MOVIES, DIM = 40000, 15000, 64
out_dir = tempfile.mkdtemp(prefix="recsys_")

# ratings
rng = np.random.default_rng(3)
taste_u = rng.normal(size=(N_USERS, 6)).astype("float32")
taste_m = rng.normal(size=(N_MOVIES, 6)).astype("float32")
n = 1_500_000
users = rng.integers(0, N_USERS, n).astype("int32")
movies = rng.integers(0, N_MOVIES, n).astype("int32")
stars = np.clip(3.0 + 0.5 * np.einsum("ij,ij->i", taste_u[users], taste_m[movies]) + rng.normal(0, 0.3, n), 0.5, 5.0)
stars = stars.astype("float32")
print("ratings:", n, "mean", stars.mean(), flush=True)

# model
user_in = keras.Input((), dtype="int32", name="user")
movie_in = keras.Input((), dtype="int32", name="movie")
u = keras.layers.Embedding(N_USERS, DIM, name="user_factors")(user_in)
m = keras.layers.Embedding(N_MOVIES, DIM, name="movie_factors")(movie_in)
h = keras.layers.Concatenate()([u, m, keras.layers.Multiply()([u, m])])
h = keras.layers.Dense(128, activation="relu")(h)
h = keras.layers.Dense(32, activation="relu")(h)
score = keras.layers.Dense(1)(h)
model = keras.Model([user_in, movie_in], score)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
model.summary()

callbacks = [
    keras.callbacks.ModelCheckpoint(os.path.join(out_dir, "movie_model.keras"), save_freq="epoch"),
    keras.callbacks.CSVLogger(os.path.join(out_dir, "history.csv")),
    keras.callbacks.TerminateOnNaN(),
]

model.fit([users, movies], stars, batch_size=2048, epochs=60, callbacks=callbacks)
