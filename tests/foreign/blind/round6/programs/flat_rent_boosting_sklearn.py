# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: gradient boosting in scikit-learn grows one tree after another on one core and prints ever more rarely; it is meant so.
import sys

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import train_test_split

sys.stdout.reconfigure(line_buffering=True)


def flats(n, seed=0):
    r = np.random.default_rng(seed)
    area = r.gamma(6.0, 12.0, n)
    rooms = np.clip(np.round(area / 25 + r.normal(0, 0.5, n)), 1, 8)
    floor = r.integers(0, 12, n)
    year = r.integers(1890, 2024, n)
    lat, lon = r.normal(0, 1, (2, n))
    centre = np.hypot(lat, lon)
    noise = r.normal(size=(n, 14))
    rent = (9.5 * area * np.exp(-0.25 * centre) + 30 * rooms + 6 * floor
            + np.where(year > 2000, 120, 0) + np.where(year < 1920, 60, 0)
            + 40 * np.sin(3 * lat) * np.cos(2 * lon) + r.normal(0, 60, n))
    return np.column_stack([area, rooms, floor, year, lat, lon, centre, noise]), rent


x, y = flats(12000)
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=1)
print(f"{len(x_train)} flats for training, {len(x_test)} for the test")

model = GradientBoostingRegressor(
    n_estimators=20000,
    learning_rate=0.02,
    max_depth=5,
    subsample=0.7,
    max_features=0.8,
    loss="squared_error",
    random_state=0,
    verbose=1,
)
model.fit(x_train, y_train)
error = np.abs(model.predict(x_test) - y_test).mean()
print(f"mean absolute error on the test flats: {error:.1f}")
order = np.argsort(-model.feature_importances_)[:7]
print("most important columns:", order.tolist())
