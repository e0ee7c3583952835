# python: gpu
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: Python calls the GPU only a few times per second, because twenty updates are one compiled scan, and waits in between; the first
# call compiles; the loss is noisy, because the measurements have heavy tails. The GPU is busy all the time.
"""Learn how swarms of coupled pendulums move (JAX, twenty updates in a scan)."""
import time

import jax
import jax.numpy as jnp
import numpy as np

PENDULUMS, WIDTH, BATCH, UPDATES = 16, 2048, 16384, 20


def init(key):
    sizes = [2 * PENDULUMS, WIDTH, WIDTH, WIDTH, WIDTH, 2 * PENDULUMS]
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (a, b)) * np.sqrt(2 / a), jnp.zeros(b)) for k, a, b in zip(keys, sizes[:-1], sizes[1:])]


def model(params, state):
    x = state.astype(jnp.bfloat16)
    for weight, bias in params[:-1]:
        x = jax.nn.silu(x @ weight.astype(jnp.bfloat16) + bias.astype(jnp.bfloat16))
    weight, bias = params[-1]
    return (x @ weight.astype(jnp.bfloat16)).astype(jnp.float32) + bias


def acceleration(angle):
    left, right = jnp.roll(angle, 1, axis=-1), jnp.roll(angle, -1, axis=-1)
    return -jnp.sin(angle) + 0.5 * (jnp.sin(left - angle) + jnp.sin(right - angle))


def swing(state, dt=0.1):
    angle, speed = jnp.split(state, 2, axis=-1)
    for _ in range(4):
        speed = speed + dt * acceleration(angle)
        angle = angle + dt * speed
    return jnp.concatenate([angle, speed], axis=-1)


def draw(key):
    one, two, three = jax.random.split(key, 3)
    state = 1.5 * jax.random.normal(one, (BATCH, 2 * PENDULUMS))
    tails = jnp.exp(1.2 * jax.random.normal(two, (BATCH, 1)))
    return state, swing(state) - state + 0.05 * tails * jax.random.normal(three, state.shape)


def loss_of(params, state, change):
    return jnp.mean((model(params, state) - change) ** 2)


@jax.jit
def twenty_updates(carry, key):
    def one(carry, key):
        params, first, second, step = carry
        loss, grads = jax.value_and_grad(loss_of)(params, *draw(key))
        step = step + 1
        first = jax.tree_util.tree_map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
        second = jax.tree_util.tree_map(lambda v, g: 0.99 * v + 0.01 * g * g, second, grads)
        rate = 3e-4 * jnp.sqrt(1 - 0.99 ** step) / (1 - 0.9 ** step)
        params = jax.tree_util.tree_map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, first, second)
        return (params, first, second, step), loss

    carry, losses = jax.lax.scan(one, carry, jax.random.split(key, UPDATES))
    return carry, losses[-1]


def main():
    print("running on", jax.devices()[0], flush=True)
    params = init(jax.random.key(1))
    zeros = jax.tree_util.tree_map(jnp.zeros_like, params)
    carry = (params, zeros, zeros, jnp.zeros(()))
    key = jax.random.key(2)
    began = time.time()
    for call in range(1, 200_001):
        carry, loss = twenty_updates(carry, jax.random.fold_in(key, call))
        print(f"step {call * UPDATES} loss {float(loss):.5f} t {time.time() - began:.1f}", flush=True)


if __name__ == "__main__":
    main()
