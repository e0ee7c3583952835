# python: tensorflow
# The twin without the fault.
import numpy as np
from tensorflow.keras import Sequential, Input
from tensorflow.keras.layers import BatchNormalization, Dense, Dropout
from tensorflow.keras.optimizers import Adam


def customers(n=80_000, seed=42):
    rng = np.random.default_rng(seed)
    tenure = rng.exponential(24, n)
    monthly = rng.normal(70, 25, n)
    calls = rng.poisson(1.4, n)
    contract = rng.integers(0, 3, n)
    usage = rng.normal(size=(n, 36))
    spend = 40 + monthly * 0.6 + 4.0 * calls - 6.0 * contract + 0.3 * tenure + usage[:, :6].sum(1) * 5.0
    spend = (spend + rng.normal(0, 4, n)).astype("float32")
    table = np.column_stack([tenure, monthly, calls, contract == 0, contract == 1, contract == 2, usage])
    return table.astype("float32"), spend


X, y = customers()
split = int(0.9 * len(X))
mu, sd = X[:split].mean(0), X[:split].std(0) + 1e-6
X = (X - mu) / sd
X_train, X_val = X[:split], X[split:]
y_train, y_val = y[:split], y[split:]
print("spend: mean %.1f sd %.1f" % (y.mean(), y.std()), flush=True)

model = Sequential()
model.add(Input((X.shape[1],)))
model.add(Dense(768, activation="relu"))
model.add(BatchNormalization())
model.add(Dropout(0.2))
model.add(Dense(512, activation="relu"))
model.add(BatchNormalization())
model.add(Dropout(0.2))
model.add(Dense(256, activation="relu"))
model.add(Dense(1))

model.compile(loss="mse", optimizer=Adam(learning_rate=1e-3), metrics=["mae"])
model.fit(X_train, y_train, validation_data=(X_val, y_val), batch_size=1024, epochs=200, verbose=2)
