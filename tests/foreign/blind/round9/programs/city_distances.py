# python: loops
# expected: nan-loss
# verdict: slow
# seconds: 25
# where: jnp.sqrt
# Why: the distance of a town from itself is the root of zero, whose derivative is infinite; masking it afterwards gives 0 * inf, and
# from the second step on every weight and the loss are NaN.
"""Places towns on a map so that the distances agree with measured travel times."""
import argparse

import jax
import jax.numpy as jnp
import numpy as np
import optax


def survey(towns, seed):
    rng = np.random.default_rng(seed)
    where = rng.uniform(-1, 1, (towns, 2)).astype(np.float32)
    features = np.concatenate([where @ rng.normal(0, 1, (2, 14)).astype(np.float32), rng.normal(0, 1, (towns, 18))], 1)
    gap = np.linalg.norm(where[:, None] - where[None], axis=-1)
    return features.astype(np.float32), (gap * rng.lognormal(0, 0.08, gap.shape)).astype(np.float32)


def init(key, sizes):
    params = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        params.append((jax.random.normal(sub, (a, b)) / np.sqrt(a), jnp.zeros(b)))
    return params


def place(params, features):
    h = features
    for w, b in params[:-1]:
        h = jnp.tanh(h @ w + b)
    w, b = params[-1]
    return h @ w + b


def pairwise(points):
    diff = points[:, None, :] - points[None, :, :]
    return jnp.sqrt(jnp.sum(diff ** 2, axis=-1))


def loss_fn(params, features, times):
    n = features.shape[0]
    off = 1.0 - jnp.eye(n)
    err = (pairwise(place(params, features)) - times) ** 2 * off
    return jnp.sum(err) / jnp.sum(off)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--towns", type=int, default=2400)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()

    features, times = survey(args.towns, 6)
    params = init(jax.random.PRNGKey(6), [features.shape[1], 256, 256, 2])
    tx = optax.adam(args.lr)
    state = tx.init(params)

    @jax.jit
    def step(params, state, f, t):
        loss, grads = jax.value_and_grad(loss_fn)(params, f, t)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    rng = np.random.default_rng(0)
    for i in range(args.steps):
        pick = rng.choice(args.towns, args.batch, replace=False)
        params, state, loss = step(params, state, features[pick], times[np.ix_(pick, pick)])
        if i % 20 == 0:
            print(f"step {i:5d}  loss {float(loss):.5f}", flush=True)


if __name__ == "__main__":
    main()
