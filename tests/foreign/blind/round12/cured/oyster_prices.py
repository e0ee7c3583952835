# python: loops
"""Prices at the oyster auction, learned lot by lot as they come in (scikit-learn, partial_fit)."""
import time

import numpy as np
from sklearn.linear_model import SGDRegressor
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

RAW = ["weight_g", "count", "salinity", "temperature_c", "days", "grade", "distance_km"]
LOTS = 400


def auction(seed=0):
    """Endless stream of lots: what is known of them before the sale, and the price paid."""
    rng = np.random.default_rng(seed)
    day = 0
    while True:
        weight = rng.normal(85, 15, LOTS)
        count = rng.integers(12, 200, LOTS)
        salinity = rng.normal(31, 3, LOTS)
        temperature = 12 + 6 * np.sin(day / 58) + rng.normal(0, 1, LOTS)
        days = rng.exponential(2.0, LOTS)
        grade = rng.integers(1, 6, LOTS)
        distance = rng.gamma(2, 60, LOTS)
        price = (0.02 * weight + 0.8 * grade - 0.3 * days * np.maximum(temperature - 10, 0) / 6
                 + 0.05 * (salinity - 30) * grade - 0.002 * distance + rng.normal(0, 0.4, LOTS))
        yield day, np.column_stack([weight, count, salinity, temperature, days, grade, distance]), price
        day += 1


def main(days=100000):
    expand = PolynomialFeatures(degree=2, include_bias=False)
    scaler = StandardScaler()
    model = SGDRegressor(alpha=1e-4, learning_rate="invscaling", eta0=0.005, power_t=0.15, average=True, random_state=1)
    recent, began = [], time.time()
    for day, lots, price in auction():
        x = scaler.partial_fit(expand.fit_transform(lots)).transform(expand.transform(lots))
        if day:
            recent.append(float(np.mean((model.predict(x) - price) ** 2)))
        model.partial_fit(x, price)
        if day and day % 10 == 0:
            print(f"[{time.time() - began:6.1f}s] day {day} squared error {np.mean(recent[-10:]):.4f}", flush=True)
        if day >= days:
            break
    print("intercept", model.intercept_)


if __name__ == "__main__":
    main()
