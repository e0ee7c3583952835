# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the first step takes some seconds (a recurrent net with unrolled scans is compiled), batches are drawn in Python, the rate
# Why: restarts now and then so that the loss jumps, weights are saved: but it trains steadily and the loss falls.
"""Tides in a harbour with wind and surges: a recurrent network that forecasts the next hour all along a window."""
import pathlib
import pickle
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

HIDDEN, WINDOW, BATCH, INPUTS = 48, 96, 24, 4
SAVES = pathlib.Path(tempfile.mkdtemp(prefix="tides-"))


def gauge(hours):
    rng = np.random.default_rng(77)
    t = np.arange(hours)
    tide = sum(a * np.sin(2 * np.pi * t / p + f) for a, p, f in ((1.0, 12.42, 0), (0.4, 12.0, 1), (0.25, 25.82, 2), (0.2, 23.93, 3)))
    wind = np.zeros((hours, 2))
    surge = np.zeros(hours)
    gusts = rng.normal(0, 0.25, (hours, 2))
    for hour in range(1, hours):
        wind[hour] = 0.96 * wind[hour - 1] + gusts[hour]
        surge[hour] = 0.9 * surge[hour - 1] + 0.12 * wind[hour - 1, 0] * abs(wind[hour - 1, 1])
    level = tide + surge + rng.normal(0, 0.05, hours)
    return np.column_stack([level, wind, np.sin(2 * np.pi * t / 24)]).astype(np.float32)


def init(key):
    params = {}
    for name, fan_in in (("low", INPUTS), ("high", HIDDEN)):
        key, k1, k2 = jax.random.split(key, 3)
        params[name] = {"in": jax.random.normal(k1, (fan_in, 3 * HIDDEN)) / np.sqrt(fan_in),
                        "again": jax.random.normal(k2, (HIDDEN, 3 * HIDDEN)) / np.sqrt(HIDDEN), "b": jnp.zeros(3 * HIDDEN)}
    params["out"] = {"w": jnp.zeros((HIDDEN, 1)), "b": jnp.zeros(1)}
    return params


def layer(weights, sequence):
    def cell(state, fed):
        reset, keep, _ = jnp.split(fed + state @ weights["again"], 3, axis=-1)
        reset, keep = jax.nn.sigmoid(reset), jax.nn.sigmoid(keep + 1)
        new = jnp.tanh(fed[:, 2 * HIDDEN:] + (reset * state) @ weights["again"][:, 2 * HIDDEN:])
        state = keep * state + (1 - keep) * new
        return state, state

    start = jnp.zeros((sequence.shape[1], HIDDEN))
    return jax.lax.scan(cell, start, sequence @ weights["in"] + weights["b"], unroll=12)[1]


def loss_fn(params, windows):
    hidden = layer(params["high"], layer(params["low"], windows[:-1]))
    ahead = windows[:-1, :, 0] + (hidden @ params["out"]["w"] + params["out"]["b"])[..., 0]
    return jnp.mean(jnp.square(ahead - windows[1:, :, 0])[12:])


rate = optax.join_schedules([optax.cosine_decay_schedule(3e-3 * 0.9 ** k, 250, 0.05) for k in range(200)], [250 * k for k in range(1, 200)])
optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(rate))


@jax.jit
def step_fn(params, state, windows):
    loss, slope = jax.value_and_grad(loss_fn)(params, windows)
    change, state = optimizer.update(slope, state)
    return optax.apply_updates(params, change), state, loss


def main():
    series = gauge(30000)
    params = init(jax.random.PRNGKey(1))
    state = optimizer.init(params)
    rng = np.random.default_rng(5)
    began = time.time()
    for step in range(1, 40001):
        starts = rng.integers(0, len(series) - WINDOW - 1, BATCH)
        windows = np.stack([series[start:start + WINDOW + 1] for start in starts], axis=1)
        params, state, loss = step_fn(params, state, windows)
        if step == 1 or step % 10 == 0:
            print(f"step {step} mse {float(loss):.5f} rate {float(rate(step)):.5f} {time.time() - began:.1f}s", flush=True)
        if step % 500 == 0:
            with open(SAVES / "latest.pkl", "wb") as file:
                pickle.dump(jax.device_get(params), file)


if __name__ == "__main__":
    main()
