# python: loops
# expected: autotune-varying-shapes [also accepted: retracing]
# verdict: slow
# seconds: 35
# where: train_step(params / lengths.max / width =
# Why: each batch is padded to its own longest sequence, so jit meets a new shape nearly every step and compiles again.
"""Yield regression from reaction strings with a small self-attention encoder (JAX)."""
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB, DIM, HEADS, LAYERS = 40, 64, 4, 1
rng = np.random.default_rng(17)


def make_reactions(n=4000):
    rows, yields = [], []
    for _ in range(n):
        length = int(rng.gamma(6.0, 22.0)) + 12
        tokens = rng.integers(1, VOCAB, size=min(length, 380))
        rows.append(tokens)
        yields.append(np.tanh((tokens == 7).mean() * 20 - (tokens == 3).mean() * 15))
    return rows, np.array(yields, dtype=np.float32)


def collate(rows):
    lengths = np.array([len(r) for r in rows])
    width = -(-lengths.max() // 128) * 128
    batch = np.zeros((len(rows), width), dtype=np.int32)
    for i, r in enumerate(rows):
        batch[i, :len(r)] = r
    return batch


def init_params(key):
    def dense(key, n_in, n_out):
        return jax.random.normal(key, (n_in, n_out)) / np.sqrt(n_in)

    keys = iter(jax.random.split(key, 64))
    params = {"embed": jax.random.normal(next(keys), (VOCAB, DIM)) * 0.1, "layers": []}
    for _ in range(LAYERS):
        params["layers"].append({
            "qkv": dense(next(keys), DIM, 3 * DIM), "out": dense(next(keys), DIM, DIM),
            "up": dense(next(keys), DIM, 2 * DIM), "down": dense(next(keys), 2 * DIM, DIM)})
    params["head"] = dense(next(keys), DIM, 1)
    return params


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def forward(params, tokens):
    mask = tokens > 0
    x = params["embed"][tokens]
    b, t, _ = x.shape
    for p in params["layers"]:
        q, k, v = jnp.split((norm(x) @ p["qkv"]).reshape(b, t, HEADS, -1), 3, axis=-1)
        score = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(DIM // HEADS)
        att = jax.nn.softmax(jnp.where(mask[:, None, None, :], score, -1e9), axis=-1)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", att, v).reshape(b, t, DIM) @ p["out"]
        x = x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]
    pooled = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return (norm(pooled) @ params["head"])[:, 0]


optimizer = optax.adamw(5e-4)


@partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, state, tokens, target):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((forward(p, tokens) - target) ** 2))(params)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


def main():
    rows, yields = make_reactions()
    params = init_params(jax.random.PRNGKey(0))
    state = optimizer.init(params)
    start = time.time()
    for step in range(100_000):
        pick = rng.integers(0, len(rows), 8)
        params, state, loss = train_step(params, state, collate([rows[i] for i in pick]), yields[pick])
        if step % 2 == 0:
            print(f"[{time.time() - start:7.1f}s] step {step:6d}  mse {float(loss):.4f}", flush=True)


if __name__ == "__main__":
    main()
