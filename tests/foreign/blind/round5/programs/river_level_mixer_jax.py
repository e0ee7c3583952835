# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: the first step takes some seconds to compile, once, as with every deep jitted model; after that steady steps, printed sparsely.
import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

GAUGES, HISTORY = 64, 96


def gauge_levels(days, seed):
    rng = np.random.default_rng(seed)
    rain = rng.gamma(0.3, 4.0, (days * 24, GAUGES)) * (rng.random((days * 24, 1)) < 0.12)
    level = np.zeros((days * 24, GAUGES), np.float32)
    keep = rng.uniform(0.95, 0.99, GAUGES)
    for t in range(1, len(level)):
        upstream = np.roll(level[t - 1], 1)
        level[t] = keep * level[t - 1] + 0.03 * upstream * (1 - keep) + 0.1 * rain[t]
    return (level - level.mean(0)) / level.std(0)


def glorot(key, a, b):
    return jax.random.normal(key, (a, b)) * np.sqrt(2.0 / (a + b))


def make_params(key, depth):
    blocks = []
    for k in jax.random.split(key, depth):
        k1, k2, k3, k4 = jax.random.split(k, 4)
        blocks.append({"t1": glorot(k1, HISTORY, 128), "t2": glorot(k2, 128, HISTORY) * 0.3,
                       "c1": glorot(k3, GAUGES, 128), "c2": glorot(k4, 128, GAUGES) * 0.3,
                       "s1": jnp.ones(GAUGES), "s2": jnp.ones(GAUGES)})
    return {"blocks": blocks, "out": glorot(key, HISTORY, 1)}


def rms(x, scale):
    return x * scale / jnp.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-6)


def mixer(params, x):
    for b in params["blocks"]:
        h = jnp.swapaxes(rms(x, b["s1"]), 1, 2)
        x = x + jnp.swapaxes(jax.nn.gelu(h @ b["t1"]) @ b["t2"], 1, 2)
        x = x + jax.nn.gelu(rms(x, b["s2"]) @ b["c1"]) @ b["c2"]
    return x[:, -1] + jnp.einsum("btg,to->bg", x, params["out"])


def main(args):
    level = gauge_levels(400, 3).astype(np.float32)
    params = make_params(jax.random.PRNGKey(0), args.depth)
    schedule = optax.warmup_cosine_decay_schedule(0.0, args.lr, 200, 100_000)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
    state = tx.init(params)

    @jax.jit
    def fit_batch(params, state, x, y):
        def loss_fn(p):
            return jnp.mean(jnp.abs(mixer(p, x) - y))
        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    rng = np.random.default_rng(0)
    span = np.arange(HISTORY)
    running, tic = None, time.time()
    for step in range(1, 100_001):
        start = rng.integers(0, len(level) - HISTORY - 6, args.batch)
        x = level[start[:, None] + span]
        params, state, loss = fit_batch(params, state, x, level[start + HISTORY + 5])
        if step % args.every == 0:
            running = float(loss) if running is None else 0.7 * running + 0.3 * float(loss)
            print(f"{time.time() - tic:8.1f}s  step {step}  mae {running:.4f}", flush=True)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--depth", type=int, default=3)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--every", type=int, default=20)
    main(p.parse_args())
