"""Online model of a pump's vibration that is robust against outliers: residuals above a percentile are clipped."""
import logging
import time

import numpy as np

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("pump")


class Sensor:
    def __init__(self, channels=16, seed=7):
        self.rng = np.random.default_rng(seed)
        self.a = self.rng.normal(0, 1, (channels, 12)) / np.sqrt(channels)
        self.c = self.rng.normal(0, 1, 12)
        self.channels = channels

    def read(self, n):
        x = self.rng.standard_normal((n, self.channels))
        y = np.sin(x @ self.a) @ self.c + 0.1 * self.rng.standard_normal(n)
        spikes = self.rng.random(n) < 0.03
        y[spikes] += self.rng.normal(0, 15, spikes.sum())
        return x, y


class Vibration:
    def __init__(self, channels, width=48, rate=0.003):
        rng = np.random.default_rng(0)
        self.w1, self.b1 = rng.normal(0, 1 / np.sqrt(channels), (channels, width)), np.zeros(width)
        self.w2, self.b2 = rng.normal(0, 1 / np.sqrt(width), width), 0.0
        self.rate = rate
        self.residuals = np.empty(0)

    def limit(self, residual):
        self.residuals = np.append(self.residuals, np.abs(residual))[-8000:]
        return np.percentile(self.residuals, 92)

    def learn(self, x, y):
        h = np.tanh(x @ self.w1 + self.b1)
        residual = h @ self.w2 + self.b2 - y
        top = self.limit(residual)
        g = np.clip(residual, -top, top) / len(y)
        gh = np.outer(g, self.w2) * (1 - h * h)
        self.w2 -= self.rate * 10 * (h.T @ g)
        self.b2 -= self.rate * 10 * g.sum()
        self.w1 -= self.rate * 10 * (x.T @ gh)
        self.b1 -= self.rate * 10 * gh.sum(0)
        return np.minimum(np.abs(residual), top).mean()


def main(minutes=20000, rows=256):
    sensor = Sensor()
    model = Vibration(sensor.channels)
    began = time.time()
    for minute in range(1, minutes + 1):
        x, y = sensor.read(rows)
        loss = model.learn(x, y)
        if minute % 50 == 0:
            log.info("minute %d: loss %.4f, %.0f s", minute, loss, time.time() - began)


if __name__ == "__main__":
    main()
