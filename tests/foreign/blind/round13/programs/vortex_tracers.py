# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: nothing is wrong. The first step takes seconds, because XLA compiles the integration and its gradient; the
# batches are small and noisy, the loop over steps is in Python; after the first one every step costs the same.
"""Neural ODE: learns the flow that carries floating tracers past a few vortices (JAX and optax)."""
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

VORTICES = np.array([[0.0, 0.5, 1.4], [0.9, -0.4, -1.0], [-0.8, -0.6, 0.8]])
TIMES = 16
DT = 0.12


class Settings(NamedTuple):
    width: int = 224
    tracers: int = 160
    steps: int = 6000
    peak: float = 3e-3
    seed: int = 3


def true_flow(points):
    velocity = np.zeros_like(points)
    for x, y, strength in VORTICES:
        dx, dy = points[:, 0] - x, points[:, 1] - y
        pull = strength / (dx**2 + dy**2 + 0.15)
        velocity += np.stack([-dy * pull, dx * pull], 1)
    return velocity + np.array([0.15, 0.0])


def drift(points, fine=8):
    """Positions at TIMES moments after the first one."""
    track = [points]
    for _ in range(TIMES):
        for _ in range(fine):
            half = points + 0.5 * DT / fine * true_flow(points)
            points = points + DT / fine * true_flow(half)
        track.append(points)
    return np.stack(track, 1).astype(np.float32)


def flow(params, points):
    features = jnp.concatenate([points, jnp.sin(2 * points), jnp.cos(2 * points)], -1)
    for w, b in params[:-1]:
        features = jnp.tanh(features @ w + b)
    w, b = params[-1]
    return features @ w + b


def integrate(params, points):
    def move(points, _):
        k1 = flow(params, points)
        k2 = flow(params, points + 0.5 * DT * k1)
        k3 = flow(params, points + 0.5 * DT * k2)
        k4 = flow(params, points + DT * k3)
        points = points + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return points, points

    _, track = jax.lax.scan(move, points, None, length=TIMES)
    return track.swapaxes(0, 1)


def loss_fn(params, tracks):
    off = integrate(params, tracks[:, 0]) - tracks[:, 1:]
    return jnp.mean(jnp.sum(off**2, -1))


def main(settings=Settings()):
    rng = np.random.default_rng(settings.seed)
    tracks = drift(rng.normal(0, 1.0, (6000, 2)))
    tracks += rng.normal(0, 0.03, tracks.shape).astype(np.float32)
    sizes = [6, settings.width, settings.width, 2]
    keys = jax.random.split(jax.random.PRNGKey(settings.seed), 3)
    params = [(jax.random.normal(k, (a, b)) / np.sqrt(a), jnp.zeros(b)) for k, a, b in zip(keys, sizes, sizes[1:])]
    schedule = optax.warmup_cosine_decay_schedule(0.0, settings.peak, 60, settings.steps)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))
    opt_state = optimizer.init(params)

    @jax.jit
    def update(params, opt_state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        changes, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, changes), opt_state, loss

    began = time.time()
    for step in range(1, settings.steps + 1):
        batch = tracks[rng.integers(0, len(tracks), settings.tracers)]
        params, opt_state, loss = update(params, opt_state, batch)
        if step == 1:
            print(f"step 1 after {time.time() - began:.1f} s", flush=True)
        elif step % 20 == 0:
            print(f"step {step} loss {float(loss):.4f} {time.time() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
