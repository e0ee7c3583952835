# python: loops
# expected: nan-loss
# verdict: slow
# seconds: 30
# where: jnp.sqrt(jnp.sum
# Why: positive pairs are drawn with replacement, so now and then a fossil is paired with itself; the distance is 0 there, the
# gradient of its square root is infinite times zero, and from that step on every weight and every loss is NaN.
"""Siamese embedding of ammonite outlines: same species near, other species apart (JAX, optax)."""
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax


class Config(NamedTuple):
    species: int = 24
    specimens: int = 300
    points: int = 192
    widths: tuple = (768, 768, 512)
    embedding: int = 32
    margin: float = 1.0
    batch: int = 192
    positives: int = 48
    steps: int = 30_000
    lr: float = 3e-4


def outlines(cfg, rng):
    """Polar outlines of shells: a few harmonics per species, with growth and wear."""
    angle = np.linspace(0, 2 * np.pi, cfg.points, endpoint=False)
    shells = np.empty((cfg.species, cfg.specimens, cfg.points), np.float32)
    for s in range(cfg.species):
        amp = rng.normal(size=(5,)) * 0.2
        phase = rng.uniform(0, 2 * np.pi, 5)
        for i in range(cfg.specimens):
            wobble = amp + 0.04 * rng.normal(size=5)
            shells[s, i] = sum(a * np.cos((k + 2) * angle + p) for k, (a, p) in enumerate(zip(wobble, phase)))
            shells[s, i] += 0.05 * rng.normal(size=cfg.points)
    return shells


def draw_pairs(cfg, shells, rng):
    n = cfg.batch
    same = np.zeros(n, np.float32)
    same[: cfg.positives] = 1
    sp_a = rng.integers(cfg.species, size=n)
    sp_b = np.where(same > 0, sp_a, (sp_a + rng.integers(1, cfg.species, size=n)) % cfg.species)
    a = shells[sp_a, rng.integers(cfg.specimens, size=n)]
    b = shells[sp_b, rng.integers(cfg.specimens, size=n)]
    return a, b, same


def init_params(cfg, key):
    sizes = (cfg.points, *cfg.widths, cfg.embedding)
    params = []
    for k, (d_in, d_out) in zip(jax.random.split(key, len(sizes) - 1), zip(sizes[:-1], sizes[1:])):
        params.append({"w": jax.random.normal(k, (d_in, d_out)) * jnp.sqrt(2.0 / d_in), "b": jnp.zeros(d_out)})
    return params


def embed(params, x):
    for layer in params[:-1]:
        x = jax.nn.gelu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def contrastive_loss(params, a, b, same, margin):
    diff = embed(params, a) - embed(params, b)
    distance = jnp.sqrt(jnp.sum(diff ** 2, axis=-1))
    near = same * distance ** 2
    apart = (1 - same) * jnp.maximum(margin - distance, 0.0) ** 2
    return jnp.mean(near + apart)


def main(cfg=Config()):
    rng = np.random.default_rng(19)
    shells = outlines(cfg, rng)
    params = init_params(cfg, jax.random.PRNGKey(1))
    opt = optax.adamw(optax.warmup_cosine_decay_schedule(0.0, cfg.lr, 40, cfg.steps))
    state = opt.init(params)

    @partial(jax.jit, donate_argnums=(0, 1))
    def update(params, state, a, b, same):
        loss, grads = jax.value_and_grad(contrastive_loss)(params, a, b, same, cfg.margin)
        delta, state = opt.update(grads, state, params)
        return optax.apply_updates(params, delta), state, loss

    window = []
    for step in range(1, cfg.steps + 1):
        params, state, loss = update(params, state, *draw_pairs(cfg, shells, rng))
        window.append(loss)
        if step % 10 == 0:
            print(f"step {step:6d} | contrastive loss {float(np.mean(jax.device_get(window))):.5f}", flush=True)
            window.clear()


if __name__ == "__main__":
    main()
