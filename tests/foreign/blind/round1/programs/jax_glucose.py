# python: loops
# expected: healthy
# verdict: healthy
# how: attach
# seconds: 30
# Why: hundreds of steps are folded into one lax.scan, so Python shows up only every few seconds, sits in block_until_ready, and the printed loss has long reached the noise.
import functools
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

HISTORY, WIDTH, BATCH, CHUNK = 48, 256, 128, 400


def make_curves(n=60000):
    rng = np.random.default_rng(73)
    t = np.arange(HISTORY + 1)
    meal = rng.integers(0, 30, (n, 1))
    curve = 5.5 + rng.uniform(1, 4, (n, 1)) * np.clip(t - meal, 0, None) / 6 * np.exp(-np.clip(t - meal, 0, None) / 8)
    curve += rng.normal(0, 0.25, curve.shape)
    curve = (curve - 6.0) / 2.0
    return jnp.asarray(curve[:, :-1], jnp.float32), jnp.asarray(curve[:, -1], jnp.float32)


def init(key):
    a, b, c = jax.random.split(key, 3)
    return [jax.random.normal(a, (HISTORY, WIDTH)) / np.sqrt(HISTORY),
            jax.random.normal(b, (WIDTH, WIDTH)) / np.sqrt(WIDTH),
            jax.random.normal(c, (WIDTH,)) / np.sqrt(WIDTH)]


def predict(params, past):
    return jax.nn.relu(jax.nn.relu(past @ params[0]) @ params[1]) @ params[2]


optimizer = optax.adamw(optax.exponential_decay(1e-3, 400, 0.5))


def one_step(past, coming, carry, key):
    params, state = carry
    rows = jax.random.randint(key, (BATCH,), 0, past.shape[0])
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((predict(p, past[rows]) - coming[rows]) ** 2))(params)
    changes, state = optimizer.update(grads, state, params)
    return (optax.apply_updates(params, changes), state), loss


@jax.jit
def chunk(params, state, key, past, coming):
    keys = jax.random.split(key, CHUNK)
    carry, losses = jax.lax.scan(functools.partial(one_step, past, coming), (params, state), keys)
    return carry, losses.mean()


def main():
    past, coming = make_curves()
    params = init(jax.random.PRNGKey(0))
    state, key = optimizer.init(params), jax.random.PRNGKey(1)
    started = time.time()
    for round_number in range(1, 2001):
        key, use = jax.random.split(key)
        (params, state), loss = chunk(params, state, use, past, coming)
        loss = jax.block_until_ready(loss)
        print(f"steps {round_number * CHUNK}  loss {float(loss):.4f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
