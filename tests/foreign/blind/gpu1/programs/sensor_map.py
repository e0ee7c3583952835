# python: gpu
# expected: nan-loss
# verdict: slow
# seconds: 25
# where: jnp.sqrt(
# Why: the distance of each point from itself is sqrt(0), whose gradient is infinite; times zero that is NaN: all weights are NaN
# after the first step.
"""Place sensors on a map so that distances agree with those measured (JAX, Adam by hand)."""
import time

import jax
import jax.numpy as jnp
import numpy as np

READINGS, WIDTH, SENSORS = 1024, 4096, 4096


def init(key):
    sizes = [READINGS, WIDTH, WIDTH, WIDTH, WIDTH, 3]
    keys = jax.random.split(key, len(sizes) - 1)
    return [{"w": jax.random.normal(k, (a, b)) * np.sqrt(2 / a), "b": jnp.zeros(b)} for k, a, b in zip(keys, sizes[:-1], sizes[1:])]


def place(params, readings):
    x = readings.astype(jnp.bfloat16)
    for layer in params[:-1]:
        x = jax.nn.gelu(x @ layer["w"].astype(jnp.bfloat16) + layer["b"].astype(jnp.bfloat16))
    return x.astype(jnp.float32) @ params[-1]["w"] + params[-1]["b"]


def distances(places):
    apart = places[:, None, :] - places[None, :, :]
    return jnp.sqrt(jnp.sum(apart ** 2, axis=-1))


def draw(key, antennas):
    one, two, three = jax.random.split(key, 3)
    places = jax.random.uniform(one, (SENSORS, 3), minval=-2.0, maxval=2.0)
    readings = jnp.cos(places @ antennas) + 0.02 * jax.random.normal(two, (SENSORS, READINGS))
    squared = jnp.sum((places[:, None, :] - places[None, :, :]) ** 2, axis=-1)
    return readings, jnp.sqrt(squared) * (1 + 0.02 * jax.random.normal(three, squared.shape))


def stress(params, readings, measured):
    return jnp.mean((distances(place(params, readings)) - measured) ** 2)


@jax.jit
def update(params, moments, step, key, antennas):
    readings, measured = draw(key, antennas)
    loss, grads = jax.value_and_grad(stress)(params, readings, measured)
    first = jax.tree_util.tree_map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], grads)
    second = jax.tree_util.tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], grads)
    rate = 1e-4 * jnp.sqrt(1 - 0.999 ** step) / (1 - 0.9 ** step)
    params = jax.tree_util.tree_map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, first, second)
    return params, (first, second), loss


def main():
    key = jax.random.key(7)
    antennas = jax.random.normal(jax.random.key(70), (3, READINGS))
    params = init(jax.random.key(71))
    zeros = jax.tree_util.tree_map(jnp.zeros_like, params)
    moments = (zeros, zeros)
    began = time.time()
    for step in range(1, 1_000_001):
        params, moments, loss = update(params, moments, float(step), jax.random.fold_in(key, step), antennas)
        if step == 1 or step % 10 == 0:
            print(f"step {step} loss {float(loss):.5f} t {time.time() - began:.1f}", flush=True)


if __name__ == "__main__":
    main()
