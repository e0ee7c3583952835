# python: gpu
# expected: healthy
# verdict: healthy
# seconds: 25
"""Blade loads of a wind turbine from its state, with JAX and a hand-written Adam."""
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

STATES, SENSORS, WIDTH, BATCH = 64, 16, 4096, 32768


def init(key):
    sizes = [STATES, WIDTH, WIDTH, WIDTH, SENSORS]
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (a, b)) * np.sqrt(2 / a), jnp.zeros(b)) for k, a, b in zip(keys, sizes[:-1], sizes[1:])]


def predict(params, x):
    x = x.astype(jnp.bfloat16)
    for index, (weight, bias) in enumerate(params):
        x = x @ weight.astype(jnp.bfloat16) + bias.astype(jnp.bfloat16)
        if index < len(params) - 1:
            x = jax.nn.relu(x)
    return x.astype(jnp.float32)


def draw(key, mixing):
    first, second = jax.random.split(key)
    states = jax.random.normal(first, (BATCH, STATES))
    loads = jnp.sin(states @ mixing) + 0.05 * jax.random.normal(second, (BATCH, SENSORS))
    return states, loads


def objective(params, states, loads):
    residuals = predict(params, states) - loads
    return jnp.mean(residuals ** 2), residuals


@partial(jax.jit, donate_argnums=(0, 1, 2))
def update(params, first, second, step, key, mixing):
    states, loads = draw(key, mixing)
    (loss, residuals), grads = jax.value_and_grad(objective, has_aux=True)(params, states, loads)
    first = jax.tree_util.tree_map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
    second = jax.tree_util.tree_map(lambda v, g: 0.99 * v + 0.01 * g * g, second, grads)
    scale = 3e-4 * jnp.sqrt(1 - 0.99 ** step) / (1 - 0.9 ** step)
    params = jax.tree_util.tree_map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + 1e-8), params, first, second)
    return params, first, second, loss, residuals


def main():
    print("devices:", jax.devices(), flush=True)
    key = jax.random.key(12)
    mixing = jax.random.normal(jax.random.key(1), (STATES, SENSORS)) * 0.2
    params = init(jax.random.key(2))
    first = jax.tree_util.tree_map(jnp.zeros_like, params)
    second = jax.tree_util.tree_map(jnp.zeros_like, params)
    history = []
    began = time.time()
    for step in range(1, 1_000_001):
        params, first, second, loss, residuals = update(params, first, second, float(step), jax.random.fold_in(key, step), mixing)
        history.append((step, float(loss), np.asarray(residuals).mean(axis=0)))
        if step % 10 == 0:
            recent = [one[1] for one in history[-10:]]
            print(f"step {step} loss {np.mean(recent):.5f} t {time.time() - began:.1f}", flush=True)


if __name__ == "__main__":
    main()
