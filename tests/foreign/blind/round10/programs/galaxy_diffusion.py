# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 35
# Why: the first step compiles for some seconds (an unrolled residual network), the loss of a denoiser is noisy by nature, and
# the batches are drawn by a loop in Python; after the one compilation the products of matrices are nearly all of the time.
"""Denoising diffusion for galaxy brightness profiles, JAX and optax."""
import pickle
import tempfile
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax

BINS, WIDTH, DEPTH, T = 128, 512, 8, 200
BATCH = 256
OUT = Path(tempfile.gettempdir()) / "galaxy_diffusion.pkl"

betas = np.linspace(1e-4, 0.03, T, dtype=np.float32)
alpha_bar = jnp.asarray(np.cumprod(1 - betas))


def profiles(rng, n):
    r = np.linspace(0.05, 4, BINS)
    out = np.empty((n, BINS), np.float32)
    for i in range(n):
        scale, index, bar = rng.uniform(0.4, 1.5), rng.uniform(0.7, 3.0), rng.random() < 0.3
        flux = np.exp(-((r / scale) ** (1 / index)))
        if bar:
            flux = flux + 0.3 * np.exp(-((r - scale) ** 2) / 0.02)
        out[i] = np.log(flux + 1e-2)
    return (out - out.mean()) / out.std()


def dense(key, n_in, n_out, gain=1.0):
    return {"w": gain * jax.random.normal(key, (n_in, n_out)) / np.sqrt(n_in), "b": jnp.zeros(n_out)}


def make_params(key):
    keys = iter(jax.random.split(key, 3 * DEPTH + 3))
    return {
        "time": dense(next(keys), 32, WIDTH),
        "in": dense(next(keys), BINS, WIDTH),
        "blocks": [{"a": dense(next(keys), WIDTH, WIDTH), "t": dense(next(keys), WIDTH, WIDTH),
                    "b": dense(next(keys), WIDTH, WIDTH, 0.3)} for _ in range(DEPTH)],
        "out": dense(next(keys), WIDTH, BINS, 0.1),
    }


def apply(p, x):
    return x @ p["w"] + p["b"]


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def denoise(params, x, t):
    freq = jnp.exp(jnp.linspace(0, 5, 16))
    phase = (t[:, None] / T) * freq
    temb = jax.nn.silu(apply(params["time"], jnp.concatenate([jnp.sin(phase), jnp.cos(phase)], -1)))
    h = apply(params["in"], x)
    for block in params["blocks"]:
        u = jax.nn.silu(apply(block["a"], norm(h)) + apply(block["t"], temb))
        h = h + apply(block["b"], u)
    return apply(params["out"], norm(h))


def loss_fn(params, x0, key):
    kt, kn = jax.random.split(key)
    t = jax.random.randint(kt, (x0.shape[0],), 0, T)
    noise = jax.random.normal(kn, x0.shape)
    a = alpha_bar[t][:, None]
    return jnp.mean((denoise(params, jnp.sqrt(a) * x0 + jnp.sqrt(1 - a) * noise, t) - noise) ** 2)


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))


@jax.jit
def step_fn(params, ema, opt_state, x0, key):
    loss, grads = jax.value_and_grad(loss_fn)(params, x0, key)
    updates, opt_state = tx.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    ema = jax.tree_util.tree_map(lambda e, p: 0.999 * e + 0.001 * p, ema, params)
    return params, ema, opt_state, loss


def main(n_steps=20_000):
    rng = np.random.default_rng(3)
    data = profiles(rng, 4000)
    key = jax.random.PRNGKey(9)
    params = ema = make_params(key)
    opt_state = tx.init(params)
    clock = time.perf_counter()
    for step in range(n_steps):
        x0 = np.stack([data[i] for i in rng.integers(len(data), size=BATCH)])
        key, sub = jax.random.split(key)
        params, ema, opt_state, loss = step_fn(params, ema, opt_state, x0, sub)
        if step % 10 == 0:
            print(f"{step:6d}  loss {float(loss):.4f}  {time.perf_counter() - clock:.1f} s", flush=True)
        if step and step % 500 == 0:
            OUT.write_bytes(pickle.dumps(jax.device_get(ema)))


main()
