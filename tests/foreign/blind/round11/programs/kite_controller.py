# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the first call compiles for some seconds (an unrolled network inside a scan over the flight) and the cost is noisy from update to
# update, as policy gradients are; after that each update is one compiled call, and the cost falls.
"""A kite learns to fly figures of eight: policy search through a simulator written in JAX."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

HORIZON, KITES, STATE, WIDTH, DEPTH = 60, 256, 7, 96, 5


def policy_init(key):
    sizes = [STATE] + [WIDTH] * DEPTH + [2]
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(k, (i, o)) / np.sqrt(i), jnp.zeros(o)) for k, i, o in zip(keys, sizes[:-1], sizes[1:])]


def policy(params, obs):
    x = obs
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return 0.1 * (x @ w + b)


def target(t):
    phase = 2 * jnp.pi * t / HORIZON
    return jnp.array([jnp.sin(phase), 0.5 * jnp.sin(2 * phase)])


def fly(params, key):
    k_pos, k_wind, k_noise = jax.random.split(key, 3)
    place = 0.5 * jax.random.normal(k_pos, (KITES, 2))
    wind = 1.0 + 0.3 * jax.random.normal(k_wind, (KITES, 1))
    gusts = jax.random.normal(k_noise, (HORIZON, KITES, 2))

    def tick(carry, inputs):
        place, speed = carry
        t, gust = inputs
        goal = jnp.broadcast_to(target(t), place.shape)
        steer = policy(params, jnp.concatenate([place, speed, goal, wind], axis=1))
        speed = 0.9 * speed + 0.3 * jnp.tanh(steer) * wind + 0.08 * gust
        place = place + 0.3 * speed
        cost = jnp.sum((place - goal) ** 2, axis=1) + 0.01 * jnp.sum(steer**2, axis=1)
        return (place, speed), cost

    _, costs = jax.lax.scan(tick, (place, jnp.zeros_like(place)), (jnp.arange(HORIZON), gusts), unroll=6)
    return costs.mean()


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(4e-4))


@jax.jit
def update(params, state, key):
    cost, grads = jax.value_and_grad(fly)(params, key)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, cost, optax.global_norm(grads)


def main():
    key = jax.random.PRNGKey(12)
    params = policy_init(key)
    state = optimizer.init(params)
    print("compiling the flight", flush=True)
    began = time.time()
    recent = []
    for step in range(1, 20001):
        key, sub = jax.random.split(key)
        params, state, cost, norm = update(params, state, sub)
        recent.append(cost)
        if step == 1:
            print(f"first update after {time.time() - began:.1f}s", flush=True)
        if step % 10 == 0:
            mean = float(jnp.stack(recent).mean())
            recent.clear()
            print(f"step {step:5d} cost {mean:.4f} |g| {float(norm):.3f}", flush=True)


if __name__ == "__main__":
    main()
