# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: Looks suspicious because the first call compiles for several seconds and then each call of the training function takes a second or more without a sign of life: it runs many updates inside one lax.scan.
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

UNITS, LENGTH, BATCH, INNER = 96, 24, 64, 60


def signals(count=4096, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((count, LENGTH, 4)).astype(np.float32)
    y = np.tanh(x[:, :-3, 0] * x[:, 3:, 1]).sum(1) + x[:, :, 2].max(1)
    return jnp.asarray(x), jnp.asarray(y.astype(np.float32))


def init(key):
    k = jax.random.split(key, 5)
    scale = 1 / np.sqrt(UNITS)
    return {
        "in": jax.random.normal(k[0], (4, 3 * UNITS)) * 0.5,
        "rec": jax.random.normal(k[1], (UNITS, 2 * UNITS)) * scale,
        "cand": jax.random.normal(k[2], (UNITS, UNITS)) * scale,
        "out1": jax.random.normal(k[3], (UNITS, UNITS)) * scale,
        "out2": jax.random.normal(k[4], (UNITS, 1)) * scale,
    }


def forward(p, x):
    h = jnp.zeros((x.shape[0], UNITS))
    for t in range(LENGTH):
        z, r, c = jnp.split(x[:, t] @ p["in"], 3, axis=1)
        hz, hr = jnp.split(h @ p["rec"], 2, axis=1)
        gate = jax.nn.sigmoid(z + hz)
        candidate = jnp.tanh(c + (jax.nn.sigmoid(r + hr) * h) @ p["cand"])
        h = gate * h + (1 - gate) * candidate
    return (jnp.tanh(h @ p["out1"]) @ p["out2"])[:, 0]


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))


def loss_fn(p, x, y):
    return jnp.mean((forward(p, x) - y) ** 2)


@partial(jax.jit, donate_argnums=(0, 1))
def many_updates(params, state, key, x, y):
    def one(carry, key):
        params, state = carry
        rows = jax.random.randint(key, (BATCH,), 0, x.shape[0])
        loss, grads = jax.value_and_grad(loss_fn)(params, x[rows], y[rows])
        changes, state = optimizer.update(grads, state, params)
        return (optax.apply_updates(params, changes), state), loss

    (params, state), losses = jax.lax.scan(one, (params, state), jax.random.split(key, INNER))
    return params, state, losses.mean()


def main():
    x, y = signals()
    params = init(jax.random.PRNGKey(0))
    state = optimizer.init(params)
    key = jax.random.PRNGKey(1)
    for call in range(100000):
        key, sub = jax.random.split(key)
        params, state, loss = many_updates(params, state, sub, x, y)
        print(f"step {(call + 1) * INNER} loss {float(loss):.4f}", flush=True)


main()
