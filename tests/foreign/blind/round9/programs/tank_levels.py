# python: loops
# expected: healthy
# verdict: healthy
# seconds: 35
# Why: the simulation is unrolled in Python, so the first step compiles for some seconds; after that all steps have one shape and run
# at one pace. The loss is read every 25 steps only.
"""Learns the flow between coupled tanks: a network inside a Runge-Kutta simulation, differentiated through time (JAX)."""
import functools
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

TANKS, HORIZON, DT = 8, 7, 0.2


def true_flow(level, pump, links):
    head = np.sign(level @ links) * np.sqrt(np.abs(level @ links) + 1e-3)
    return -0.4 * head + pump - 0.1 * level


def record(n, seed=0):
    rng = np.random.default_rng(seed)
    links = rng.normal(0, 0.6, (TANKS, TANKS))
    links = links @ links.T / TANKS + 0.2 * np.eye(TANKS)
    start = level = rng.uniform(0, 2, (n, TANKS))
    pumps = rng.uniform(0, 0.5, (n, TANKS))
    track = []
    for _ in range(HORIZON):
        level = level + DT * true_flow(level, pumps, links)
        track.append(level)
    return [a.astype(np.float32) for a in (start, pumps, np.stack(track, 1))]


def init(key, width=160):
    sizes = [2 * TANKS, width, width, TANKS]
    keys = jax.random.split(key, 3)
    return [(jax.random.normal(k, (a, b)) * 0.5 / np.sqrt(a), jnp.zeros(b)) for k, a, b in zip(keys, sizes[:-1], sizes[1:])]


def flow(params, level, pump):
    h = jnp.concatenate([level, pump], -1)
    for w, b in params[:-1]:
        h = jnp.tanh(h @ w + b)
    w, b = params[-1]
    return h @ w + b


def simulate(params, level, pump):
    track = []
    for _ in range(HORIZON):
        k1 = flow(params, level, pump)
        k2 = flow(params, level + 0.5 * DT * k1, pump)
        k3 = flow(params, level + 0.5 * DT * k2, pump)
        k4 = flow(params, level + DT * k3, pump)
        level = level + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        track.append(level)
    return jnp.stack(track, 1)


def loss_fn(params, start, pump, track):
    return jnp.mean((simulate(params, start, pump) - track) ** 2)


@functools.partial(jax.jit, static_argnums=0)
def train_step(tx, params, state, start, pump, track):
    loss, grads = jax.value_and_grad(loss_fn)(params, start, pump, track)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


if __name__ == "__main__":
    steps, size = 20000, 256
    start, pump, track = record(20000)
    params = init(jax.random.PRNGKey(3))
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.warmup_cosine_decay_schedule(0, 1e-3, 100, steps)))
    state = tx.init(params)
    rng, t0 = np.random.default_rng(1), time.time()
    print("compiling and starting", flush=True)
    for step in range(1, steps + 1):
        i = rng.integers(0, len(start), size)
        params, state, loss = train_step(tx, params, state, start[i], pump[i], track[i])
        if step == 1 or step % 25 == 0:
            print(f"step {step} | loss {float(loss):.6f} | {time.time() - t0:.1f} s", flush=True)
