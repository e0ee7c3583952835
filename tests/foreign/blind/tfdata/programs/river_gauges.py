# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# Why: the windows of the gauge series are cut and batched once and cached; a step of the small GRU
# takes several milliseconds, handing over the next cached batch a small part of one.
import os
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

GAUGES, PAST, AHEAD = 6, 36, 6
SERIES = os.path.join(tempfile.gettempdir(), "river_gauges.csv")


def simulate(hours=4000):
    if os.path.exists(SERIES):
        return
    rng = np.random.default_rng(90)
    rain = np.maximum(0, rng.normal(-1, 1.2, hours))
    level = np.zeros((hours, GAUGES))
    for t in range(1, hours):
        above = np.concatenate([[rain[t]], level[t - 1, :-1]])
        level[t] = 0.85 * level[t - 1] + 0.15 * above + rng.normal(0, 0.003, GAUGES)
    np.savetxt(SERIES + ".tmp", level, fmt="%.4f", delimiter=",")
    os.replace(SERIES + ".tmp", SERIES)


def cut(lines):
    table = tf.stack(tf.io.decode_csv(lines, [[0.0]] * GAUGES), axis=-1) * 5.0
    return table[:PAST], table[PAST:, -1]


def windows():
    ds = tf.data.TextLineDataset(SERIES)
    ds = ds.window(PAST + AHEAD, shift=3, drop_remainder=True)
    ds = ds.flat_map(lambda w: w.batch(PAST + AHEAD, drop_remainder=True))
    ds = ds.map(cut, num_parallel_calls=2).shuffle(400, seed=1)
    return ds.batch(24, drop_remainder=True).cache().repeat().prefetch(8)


class Forecast(tf.Module):
    def __init__(self, units=40):
        super().__init__()
        self.gru = tf.keras.layers.GRU(units)
        self.head = tf.keras.layers.Dense(AHEAD)
        self.gru.build((None, PAST, GAUGES))
        self.head.build((None, units))
        self.weights = self.gru.trainable_variables + self.head.trainable_variables
        self.opt = tf.keras.optimizers.Adam(1e-3)
        self.opt.build(self.weights)

    @tf.function
    def fit_batch(self, past, future):
        with tf.GradientTape() as tape:
            error = tf.reduce_mean(tf.abs(self.head(self.gru(past)) - future))
        grads, _ = tf.clip_by_global_norm(tape.gradient(error, self.weights), 1.0)
        self.opt.apply_gradients(zip(grads, self.weights))
        return error


def main():
    simulate()
    forecast = Forecast()
    mean, t0 = tf.keras.metrics.Mean(), time.time()
    for n, (past, future) in enumerate(windows(), 1):
        mean.update_state(forecast.fit_batch(past, future))
        if n % 200 == 0:
            print(f"{n:7d}  mean absolute error {mean.result().numpy():.4f}  {time.time() - t0:6.1f} s", flush=True)
            mean.reset_state()
        if n == 60000:
            break


if __name__ == "__main__":
    main()
