# python: loops
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

HOURS = 24 * 28
GAUGES = 12
HIDDEN = 64


def tide_table(years=3):
    rng = np.random.default_rng(8)
    t = np.arange(years * 365 * 24)
    level = np.zeros((len(t), GAUGES))
    for period, amp in ((12.42, 1.0), (12.0, 0.45), (23.93, 0.3), (25.82, 0.2), (327.8, 0.1)):
        level += amp * np.sin(2 * np.pi * t[:, None] / period + rng.uniform(0, 6.28, GAUGES))
    surge = np.convolve(rng.normal(0, 0.3, len(t)), np.ones(48) / 48, "same")
    return (level + surge[:, None] + rng.normal(0, 0.05, level.shape)).astype(np.float32)


def lstm_params(key, n_in):
    a, b = jax.random.split(key)
    return {
        "wx": jax.random.normal(a, (n_in, 4 * HIDDEN)) / np.sqrt(n_in),
        "wh": jax.random.normal(b, (HIDDEN, 4 * HIDDEN)) / np.sqrt(HIDDEN),
        "b": jnp.zeros(4 * HIDDEN),
    }


def cell(p, carry, x):
    h, c = carry
    i, f, g, o = jnp.split(x @ p["wx"] + h @ p["wh"] + p["b"], 4, axis=-1)
    c = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return h, c


def predict(params, window):
    zeros = jnp.zeros((window.shape[0], HIDDEN))
    lower, upper = (zeros, zeros), (zeros, zeros)

    def hour(carry, x):
        lower = cell(params["lower"], carry[0], x)
        return (lower, cell(params["upper"], carry[1], lower[0])), None

    (lower, upper), _ = jax.lax.scan(hour, (lower, upper), window.swapaxes(0, 1))
    return upper[0] @ params["head"]


def loss_fn(params, window, target):
    return jnp.mean((predict(params, window) - target) ** 2)


@partial(jax.jit, static_argnums=0)
def step(tx, params, opt_state, window, target):
    loss, grads = jax.value_and_grad(loss_fn)(params, window, target)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    table = tide_table()
    key = jax.random.PRNGKey(1)
    k1, k2, k3 = jax.random.split(key, 3)
    params = {
        "lower": lstm_params(k1, GAUGES),
        "upper": lstm_params(k2, HIDDEN),
        "head": jax.random.normal(k3, (HIDDEN, GAUGES)) * 0.1,
    }
    tx = optax.adamw(1e-3)
    opt_state = tx.init(params)
    rng = np.random.default_rng(0)
    print("windows of", HOURS, "hours,", GAUGES, "gauges", flush=True)
    began = time.perf_counter()
    for it in range(1, 100001):
        starts = rng.integers(0, len(table) - HOURS - 6, 32)
        window = np.stack([table[s:s + HOURS] for s in starts])
        target = table[starts + HOURS + 5]
        params, opt_state, loss = step(tx, params, opt_state, window, target)
        if it == 1 or it % 20 == 0:
            print(f"[{time.perf_counter() - began:7.1f}s] it {it} mse {loss:.4f}", flush=True)


if __name__ == "__main__":
    main()
