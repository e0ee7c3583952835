# python: loops
# expected: first-step-compiling
# verdict: not-started|slow
# seconds: 30
# where: for t in range( / train_step( / value_and_grad / lstm_cell
# Why: The 288 time steps of two LSTM layers are a Python loop inside jit: XLA compiles all of it unrolled, for minutes. With
# lax.scan it takes a second or two.
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

WINDOW = 288
HIDDEN = 96


def gauge_readings(n=60_000):
    rng = np.random.default_rng(7)
    t = np.arange(n) / 6.0
    level = 1.9 * np.sin(2 * np.pi * t / 12.42) + 0.6 * np.sin(2 * np.pi * t / 12.0 + 1) + 0.3 * np.sin(2 * np.pi * t / 23.93)
    surge = np.convolve(rng.normal(size=n), np.ones(200) / 60, mode="same")
    return (level + 0.3 * surge).astype(np.float32)


def init_layer(key, n_in, n_out):
    k1, k2 = jax.random.split(key)
    return {
        "wx": jax.random.normal(k1, (n_in, 4 * n_out)) / np.sqrt(n_in),
        "wh": jax.random.normal(k2, (n_out, 4 * n_out)) / np.sqrt(n_out),
        "b": jnp.zeros(4 * n_out),
    }


def lstm_cell(p, state, x):
    h, c = state
    i, f, g, o = jnp.split(x @ p["wx"] + h @ p["wh"] + p["b"], 4, axis=-1)
    c = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return h, c


def advance(params, state, x):
    low = lstm_cell(params["low"], state[0], x)
    high = lstm_cell(params["high"], state[1], low[0])
    return low, high


def predict(params, series):
    batch = series.shape[0]
    zero = jnp.zeros((batch, HIDDEN))
    state = ((zero, zero), (zero, zero))
    for t in range(WINDOW):
        state = advance(params, state, series[:, t, None])
    return state[1][0] @ params["out"] + params["bias"]


def loss_fn(params, series, target):
    return jnp.mean((predict(params, series)[:, 0] - target) ** 2)


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(2e-3))


@jax.jit
def train_step(params, opt_state, series, target):
    loss, grads = jax.value_and_grad(loss_fn)(params, series, target)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    level = gauge_readings()
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    params = {"low": init_layer(keys[0], 1, HIDDEN), "high": init_layer(keys[1], HIDDEN, HIDDEN),
              "out": jax.random.normal(keys[2], (HIDDEN, 1)) * 0.1, "bias": jnp.zeros(1)}
    opt_state = tx.init(params)
    rng = np.random.default_rng(1)
    began = time.perf_counter()
    print("training on", len(level), "readings", flush=True)
    for step in range(1, 100_000):
        at = rng.integers(0, len(level) - WINDOW - 36, 32)
        series = level[at[:, None] + np.arange(WINDOW)]
        params, opt_state, loss = train_step(params, opt_state, series, level[at + WINDOW + 35])
        if step % 10 == 1:
            print("step", step, "mse", round(float(loss), 4), "after %.1f s" % (time.perf_counter() - began), flush=True)


if __name__ == "__main__":
    main()
