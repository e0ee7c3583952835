# python: loops
# expected: retracing
# verdict: slow
# seconds: 30
# where: beta=
# Why: the weight of the KL term is a static argument of the jitted step and has another value at every step, so that every
# step is traced and compiled anew.
"""A variational autoencoder of growth curves of yeast cultures (JAX, optax); the KL term is faded in."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

HOURS, LATENT, WIDTH, BATCH = 96, 6, 192, 128
FADE_IN = 4000


def draw_curves(count, seed=3):
    random = np.random.default_rng(seed)
    hours = np.linspace(0, 1, HOURS)
    lag, speed, most = random.uniform(0.1, 0.6, (count, 1)), random.uniform(8, 30, (count, 1)), random.uniform(0.5, 1.5, (count, 1))
    curves = most / (1 + np.exp(-speed * (hours - lag)))
    curves -= random.uniform(0, 0.4, (count, 1)) * np.maximum(hours - 0.7, 0)
    return (curves + random.normal(0, 0.03, curves.shape)).astype(np.float32)


def dense(key, inside, outside):
    return {"w": jax.random.normal(key, (inside, outside)) * (1.5 / inside) ** 0.5, "b": jnp.zeros(outside)}


def make_params(key):
    keys = jax.random.split(key, 6)
    sizes = [(HOURS, WIDTH), (WIDTH, WIDTH), (WIDTH, 2 * LATENT), (LATENT, WIDTH), (WIDTH, WIDTH), (WIDTH, HOURS)]
    return [dense(one, *size) for one, size in zip(keys, sizes)]


def run(layers, x):
    for number, layer in enumerate(layers):
        x = x @ layer["w"] + layer["b"]
        if number < len(layers) - 1:
            x = jax.nn.gelu(x)
    return x


def loss_of(params, curves, key, beta):
    mean, spread = jnp.split(run(params[:3], curves), 2, axis=-1)
    code = mean + jnp.exp(0.5 * spread) * jax.random.normal(key, mean.shape)
    rebuilt = run(params[3:], code)
    loss = jnp.mean(jnp.sum((rebuilt - curves) ** 2, -1))
    if beta > 0:
        loss += beta * jnp.mean(0.5 * jnp.sum(jnp.exp(spread) + mean**2 - 1 - spread, -1))
    return loss


optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adamw(1e-3))


@functools.partial(jax.jit, static_argnames=("beta",))
def train_step(params, state, curves, key, beta):
    loss, gradients = jax.value_and_grad(loss_of)(params, curves, key, beta)
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss


def main():
    curves = draw_curves(12_000)
    random = np.random.default_rng(1)
    key = jax.random.PRNGKey(0)
    params = make_params(key)
    state = optimizer.init(params)
    for step in range(400_000):
        key, now = jax.random.split(key)
        batch = curves[random.integers(0, len(curves), BATCH)]
        params, state, loss = train_step(params, state, batch, now, beta=min(1.0, step / FADE_IN) * 0.05)
        if step % 4 == 0:
            print(f"step {step} loss {float(loss):.4f}", flush=True)


if __name__ == "__main__":
    main()
