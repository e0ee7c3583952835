# python: loops
"""A variational autoencoder for the outlines of pottery shards (JAX, optax)."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

POINTS, LATENT, BATCH = 96, 12, 128


def shards(n, seed):
    rng = np.random.default_rng(seed)
    angle = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)
    k = np.arange(1, 6)[None, :, None]
    amp = rng.normal(0, 0.3, (n, 5, 1)) / k
    phase = rng.uniform(0, 2 * np.pi, (n, 5, 1))
    radius = 1 + (amp * np.cos(k * angle + phase)).sum(1)
    return (radius + rng.normal(0, 0.02, radius.shape)).astype(np.float32)


def dense(key, a, b):
    return {"w": jax.random.normal(key, (a, b)) * np.sqrt(2 / a), "b": jnp.zeros(b)}


def init(key):
    sizes = {"e1": (POINTS, 256), "e2": (256, 256), "mu": (256, LATENT), "lv": (256, LATENT),
             "d1": (LATENT, 256), "d2": (256, 256), "out": (256, POINTS)}
    keys = jax.random.split(key, len(sizes))
    params = {name: dense(k, *s) for k, (name, s) in zip(keys, sizes.items())}
    params["lv"]["w"] *= 0.1
    return params


def layer(p, x):
    return x @ p["w"] + p["b"]


def vae_loss(params, x, key, beta):
    h = jax.nn.gelu(layer(params["e2"], jax.nn.gelu(layer(params["e1"], x - 1.0))))
    mu, logvar = layer(params["mu"], h), layer(params["lv"], h)
    z = mu + jnp.exp(0.5 * logvar) * jax.random.normal(key, mu.shape)
    h = jax.nn.gelu(layer(params["d2"], jax.nn.gelu(layer(params["d1"], z))))
    recon = jnp.sum((layer(params["out"], h) + 1.0 - x) ** 2, -1).mean()
    kl = -0.5 * jnp.sum(1 + logvar - mu ** 2 - jnp.exp(logvar), -1).mean()
    return recon + beta * kl, (recon, kl)


optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adamw(1e-3))


@jax.jit
def train_step(params, opt_state, x, key, beta):
    (loss, parts), grads = jax.value_and_grad(vae_loss, has_aux=True)(params, x, key, beta)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss, parts


def main(steps=200000, warmup=50000):
    data = shards(20000, 1)
    rng = np.random.default_rng(0)
    key = jax.random.PRNGKey(3)
    params = init(key)
    opt_state = optimizer.init(params)
    began = time.time()
    for step in range(1, steps + 1):
        key, sub = jax.random.split(key)
        x = data[rng.integers(0, len(data), BATCH)]
        beta = min(1.0, step / warmup) * 0.05
        params, opt_state, loss, (recon, kl) = train_step(params, opt_state, x, sub, beta)
        if step <= 50 or step % 50 == 0:
            print(f"step {step} loss {float(loss):.4f} recon {float(recon):.4f} kl {float(kl):.2f} "
                  f"({step / (time.time() - began):.1f} it/s)", flush=True)


if __name__ == "__main__":
    main()
