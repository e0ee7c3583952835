# python: loops
# expected: first-step-compiling
# verdict: not-started
# seconds: 30
# where: range(STEPS)
# Why: the loop over the integrator's steps is Python's, so it is written out into the compiled function some hundred times
# Why: and XLA compiles for minutes before the first step; a scan compiles in a second or two.
"""Learns the force on a comet from where it was seen: an integrator with a small network in it."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS, DT, BATCH = 240, 0.04, 64


def force(params, place):
    hidden = jnp.tanh(place @ params["w1"] + params["b1"])
    hidden = jnp.tanh(hidden @ params["w2"] + params["b2"])
    return hidden @ params["w3"] - place


def advance(params, state):
    """One Runge-Kutta step of place and speed."""
    place, speed = state
    a1 = force(params, place)
    a2 = force(params, place + DT / 2 * speed)
    a3 = force(params, place + DT / 2 * speed + DT * DT / 4 * a1)
    a4 = force(params, place + DT * speed + DT * DT / 2 * a2)
    place = place + DT * speed + DT * DT / 6 * (a1 + a2 + a3)
    return place, speed + DT / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def fly(params, place, speed):
    path, state = [], (place, speed)
    for _ in range(STEPS):
        state = advance(params, state)
        path.append(state[0])
    return jnp.stack(path)


def loss_of(params, place, speed, seen):
    return jnp.mean(jnp.square(fly(params, place, speed) - seen))


@partial(jax.jit, static_argnums=0)
def update(optimizer, params, memory, place, speed, seen):
    loss, slope = jax.value_and_grad(loss_of)(params, place, speed, seen)
    change, memory = optimizer.update(slope, memory, params)
    return optax.apply_updates(params, change), memory, loss


def sightings(count, seed):
    """Orbits around a soft sun, with the error of the telescope."""
    rng = np.random.default_rng(seed)
    place = rng.normal(0, 1, (count, 2))
    speed = rng.normal(0, 0.5, (count, 2))
    at, path = (place, speed), []
    pull = lambda p: -p / (0.3 + (p ** 2).sum(-1, keepdims=True)) ** 1.5
    for _ in range(STEPS):
        half = at[1] + DT / 2 * pull(at[0])
        there = at[0] + DT * half
        at = there, half + DT / 2 * pull(there)
        path.append(there)
    seen = np.stack(path) + rng.normal(0, 0.01, (STEPS, count, 2))
    return [array.astype(np.float32) for array in (place, speed, seen)]


def main():
    place, speed, seen = sightings(2048, 3)
    print("sightings", seen.shape)
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    width = 32
    params = {"w1": jax.random.normal(keys[0], (2, width)) * 0.5, "b1": jnp.zeros(width),
              "w2": jax.random.normal(keys[1], (width, width)) * 0.15, "b2": jnp.zeros(width),
              "w3": jax.random.normal(keys[2], (width, 2)) * 0.05}
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(2e-3))
    memory = optimizer.init(params)
    rng = np.random.default_rng(1)
    for step in range(1, 20001):
        pick = rng.integers(0, place.shape[0], BATCH)
        params, memory, loss = update(optimizer, params, memory, place[pick], speed[pick], seen[:, pick])
        if step == 1 or step % 10 == 0:
            print(f"step {step} loss {float(loss):.5f}", flush=True)


if __name__ == "__main__":
    main()
