# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# how: attach
# Why: a denoiser that prints every fifty steps only, with a loss that jumps with the drawn noise level, and a small checkpoint now and
# then; both cores multiply matrices.
import os
import sys
import tempfile
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

SIDE = 28
LEVELS = 400


def snowflakes(count, seed=2):
    rng = np.random.default_rng(seed)
    axis = np.linspace(-1, 1, SIDE)
    yy, xx = np.meshgrid(axis, axis, indexing="ij")
    r, phi = np.hypot(xx, yy), np.arctan2(yy, xx)
    reach = rng.uniform(0.4, 0.95, (count, 1, 1))
    sharp = rng.uniform(2, 8, (count, 1, 1))
    arms = np.abs(np.cos(3 * phi + rng.uniform(0, 3, (count, 1, 1)))) ** sharp
    ring = 0.4 * np.cos(14 * r * rng.uniform(0.6, 1.4, (count, 1, 1)))
    return (np.where(r < reach, 2 * np.clip(arms + ring, 0, 1) - 1, -1.0)).reshape(count, -1).astype(np.float32)


def init(key, width, depth):
    keys = jax.random.split(key, depth + 3)
    dense = lambda k, a, b: {"w": jax.random.normal(k, (a, b)) / np.sqrt(a), "b": jnp.zeros(b)}
    return {
        "in": dense(keys[0], SIDE * SIDE, width),
        "time": dense(keys[1], 64, width),
        "mid": [dense(k, width, width) for k in keys[2:-1]],
        "out": dense(keys[-1], width, SIDE * SIDE),
    }


def apply(p, x):
    return x @ p["w"] + p["b"]


def denoise(params, noisy, level):
    freq = jnp.exp(jnp.linspace(0.0, 5.0, 32))
    phase = level[:, None] / LEVELS * freq
    h = apply(params["in"], noisy) + apply(params["time"], jnp.concatenate([jnp.sin(phase), jnp.cos(phase)], axis=1))
    for p in params["mid"]:
        h = h + apply(p, jax.nn.silu(h)) * 0.5
    return apply(params["out"], jax.nn.silu(h))


def loss_fn(params, clean, key):
    k1, k2 = jax.random.split(key)
    level = jax.random.randint(k1, (clean.shape[0],), 1, LEVELS)
    keep = jnp.cos(level / LEVELS * jnp.pi / 2)[:, None]
    noise = jax.random.normal(k2, clean.shape)
    noisy = keep * clean + jnp.sqrt(1 - keep ** 2) * noise
    return jnp.mean((denoise(params, noisy, level) - noise) ** 2)


@partial(jax.jit, static_argnames="tx")
def train(tx, params, state, clean, key):
    loss, grads = jax.value_and_grad(loss_fn)(params, clean, key)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


def main():
    flakes = snowflakes(6000)
    folder = tempfile.mkdtemp(prefix="flakes_")
    tx = optax.adamw(optax.cosine_decay_schedule(5e-4, 50000))
    params = init(jax.random.PRNGKey(0), width=640, depth=4)
    state = tx.init(params)
    key, rng = jax.random.PRNGKey(1), np.random.default_rng(0)
    for step in tqdm(range(50000), mininterval=5):
        key, sub = jax.random.split(key)
        params, state, loss = train(tx, params, state, flakes[rng.integers(0, len(flakes), 256)], sub)
        if step % 50 == 0:
            tqdm.write(f"step {step} loss {float(loss):.4f}", file=sys.stderr)
        if step % 400 == 399:
            np.savez(os.path.join(folder, "denoiser.npz"), *jax.tree_util.tree_leaves(params))


if __name__ == "__main__":
    main()
