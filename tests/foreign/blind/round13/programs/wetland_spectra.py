# python: loops
# expected: retracing
# verdict: slow
# seconds: 30
# where: train_step(params, opt_state, batch, noise_key
# Why: the weight of the KL term is a static argument of the jitted step and changes with every step, so that
# XLA compiles the whole step anew each time; passed as an ordinary argument it is compiled once.
"""Variational autoencoder for reflectance spectra of wetland plots (JAX and optax)."""
import argparse
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

BANDS = 240
LATENT = 12
SIZES = [BANDS, 512, 512, 256]


def make_spectra(count, rng):
    wavelengths = np.linspace(0.4, 2.4, BANDS)
    centres = np.array([0.55, 0.68, 0.87, 1.2, 1.45, 1.65, 1.94, 2.2])
    widths = np.array([0.05, 0.04, 0.15, 0.08, 0.06, 0.12, 0.07, 0.1])
    bumps = np.exp(-(((wavelengths[None] - centres[:, None]) / widths[:, None]) ** 2))
    amounts = rng.gamma(2.0, 0.5, (count, len(centres)))
    spectra = amounts @ bumps + rng.normal(0, 0.05, (count, BANDS))
    spectra = (spectra - spectra.mean(0)) / spectra.std(0)
    return spectra.astype(np.float32)


def dense_init(key, n_in, n_out):
    return {"w": jax.random.normal(key, (n_in, n_out)) * np.sqrt(2.0 / n_in), "b": jnp.zeros(n_out)}


def init_params(key):
    keys = iter(jax.random.split(key, 16))
    encoder = [dense_init(next(keys), a, b) for a, b in zip(SIZES, SIZES[1:])]
    back = [LATENT] + SIZES[:0:-1] + [BANDS]
    decoder = [dense_init(next(keys), a, b) for a, b in zip(back, back[1:])]
    heads = dense_init(next(keys), SIZES[-1], 2 * LATENT)
    return {"encoder": encoder, "heads": {"w": heads["w"] * 0.1, "b": heads["b"]}, "decoder": decoder}


def run_layers(layers, x):
    for layer in layers[:-1]:
        x = jax.nn.gelu(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


def negative_elbo(params, batch, noise_key, beta):
    hidden = jax.nn.gelu(run_layers(params["encoder"], batch))
    mean, log_var = jnp.split(hidden @ params["heads"]["w"] + params["heads"]["b"], 2, axis=-1)
    z = mean + jnp.exp(0.5 * log_var) * jax.random.normal(noise_key, mean.shape)
    rebuilt = run_layers(params["decoder"], z)
    fit = jnp.mean(jnp.sum((rebuilt - batch) ** 2, axis=-1))
    kl = -0.5 * jnp.mean(jnp.sum(1 + log_var - mean**2 - jnp.exp(log_var), axis=-1))
    return fit + beta * kl, (fit, kl)


@partial(jax.jit, static_argnames=("beta", "optimizer"))
def train_step(params, opt_state, batch, noise_key, beta, optimizer):
    (loss, (fit, kl)), grads = jax.value_and_grad(negative_elbo, has_aux=True)(params, batch, noise_key, beta)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss, fit, kl


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--warmup", type=int, default=8000)
    parser.add_argument("--lr", type=float, default=5e-4)
    args = parser.parse_args()

    rng = np.random.default_rng(4)
    spectra = make_spectra(20000, rng)
    print(f"{len(spectra)} spectra of {BANDS} bands", flush=True)
    key = jax.random.PRNGKey(0)
    params = init_params(key)
    optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(args.lr))
    opt_state = optimizer.init(params)

    began = time.time()
    for step in range(1, args.steps + 1):
        key, noise_key = jax.random.split(key)
        batch = spectra[rng.integers(0, len(spectra), args.batch)]
        beta = min(1.0, step / args.warmup)
        params, opt_state, loss, fit, kl = train_step(params, opt_state, batch, noise_key, beta, optimizer)
        if step % 5 == 0:
            print(
                f"step {step:5d}  loss {float(loss):8.3f}  fit {float(fit):8.3f}  kl {float(kl):7.3f}"
                f"  beta {beta:.4f}  {time.time() - began:6.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
