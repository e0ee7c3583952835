# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the first step takes seconds because the unrolled recurrence is compiled once; after that the steps are even and quick,
# the data come from a cheap draw, and the loss falls with noise.
"""Predict the next row of a change-ringing method with a recurrent net, unrolled over the touch (JAX, optax)."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

BELLS, ROWS, HIDDEN, BATCH = 6, 14, 160, 64


def touches(n, seed):
    """Plain hunting with random bobs: every second change swaps the inner pairs."""
    rng = np.random.default_rng(seed)
    out = np.empty((n, ROWS + 1, BELLS), np.int32)
    for i in range(n):
        row = rng.permutation(BELLS)
        for r in range(ROWS + 1):
            out[i, r] = row
            row = row.copy()
            if rng.random() < 0.06:
                a = rng.integers(BELLS - 1)
                row[[a, a + 1]] = row[[a + 1, a]]
            elif r % 2 == 0:
                row[0::2], row[1::2] = row[1::2].copy(), row[0::2].copy()
            else:
                row[1:-1:2], row[2:-1:2] = row[2:-1:2].copy(), row[1:-1:2].copy()
    return out


def init(key):
    k = jax.random.split(key, 6)
    n_in = BELLS * BELLS
    glorot = jax.nn.initializers.glorot_normal()
    orth = jax.nn.initializers.orthogonal()
    return {"wx": glorot(k[0], (n_in, 3 * HIDDEN)), "wh": jnp.concatenate([orth(q, (HIDDEN, HIDDEN)) for q in k[1:4]], 1),
            "b": jnp.zeros(3 * HIDDEN), "wo": glorot(k[4], (HIDDEN, n_in)), "bo": jnp.zeros(n_in)}


def gru(p, h, x):
    xs, hs = jnp.split(x @ p["wx"] + p["b"], 3, -1), jnp.split(h @ p["wh"], 3, -1)
    update, reset = jax.nn.sigmoid(xs[0] + hs[0]), jax.nn.sigmoid(xs[1] + hs[1])
    return update * h + (1 - update) * jnp.tanh(xs[2] + reset * hs[2])


def loss_fn(p, rows):
    h = jnp.zeros((rows.shape[0], HIDDEN))
    total = 0.0
    for t in range(ROWS):
        x = jax.nn.one_hot(rows[:, t], BELLS).reshape(rows.shape[0], -1)
        h = gru(p, h, x)
        logits = (h @ p["wo"] + p["bo"]).reshape(-1, BELLS, BELLS)
        total += optax.softmax_cross_entropy_with_integer_labels(logits, rows[:, t + 1]).mean()
    return total / ROWS


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.cosine_decay_schedule(1.5e-3, 60000)))


@jax.jit
def train_step(params, state, rows):
    loss, grads = jax.value_and_grad(loss_fn)(params, rows)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


def main():
    data = touches(3000, 3)
    rng = np.random.default_rng(9)
    params = init(jax.random.PRNGKey(2))
    state = optimizer.init(params)
    print(f"{len(data)} touches, {sum(v.size for v in params.values()):,} weights", flush=True)
    began = time.time()
    for step in range(1, 60001):
        params, state, loss = train_step(params, state, data[rng.integers(0, len(data), BATCH)])
        if step == 1 or step % 20 == 0:
            print(f"[{time.time() - began:6.1f}s] step {step} loss {float(loss):.4f}", flush=True)
        if step % 1000 == 0:
            np.savez("/tmp/bell_ringing_weights.npz", **{k: np.asarray(v) for k, v in params.items()})


if __name__ == "__main__":
    main()
