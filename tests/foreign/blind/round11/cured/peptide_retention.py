"""Retention times of peptides: a small attention model in JAX."""
import functools
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

RESIDUES, DIM, LAYERS, HEADS = 21, 64, 2, 4
BATCH = 24


def peptides(count, rng):
    lengths = np.clip(rng.lognormal(4.3, 0.55, count), 12, 420).astype(int)
    chains = [rng.integers(1, RESIDUES, n) for n in lengths]
    hydro = rng.normal(0, 1, RESIDUES)
    times = np.array([hydro[c].mean() * 4 + 0.3 * np.log(len(c)) for c in chains])
    return chains, (times - times.mean()) / times.std()


def collate(chains, times, index):
    longest = max(len(chains[i]) for i in index)
    longest = -(-longest // 128) * 128
    tokens = np.zeros((len(index), longest), np.int32)
    for row, i in enumerate(index):
        tokens[row, : len(chains[i])] = chains[i]
    return jnp.asarray(tokens), jnp.asarray(times[index], jnp.float32)


def init(key):
    keys = iter(jax.random.split(key, 2 + 6 * LAYERS))
    dense = lambda i, o: jax.random.normal(next(keys), (i, o)) / np.sqrt(i)
    layers = [
        {"qkv": dense(DIM, 3 * DIM), "out": dense(DIM, DIM), "up": dense(DIM, 2 * DIM), "down": dense(2 * DIM, DIM)}
        for _ in range(LAYERS)
    ]
    return {"embed": dense(RESIDUES, DIM), "layers": layers, "head": dense(DIM, 1)}


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)


def predict(params, tokens):
    mask = tokens > 0
    x = params["embed"][tokens] * np.sqrt(RESIDUES)
    for layer in params["layers"]:
        q, k, v = jnp.split((norm(x) @ layer["qkv"]).reshape(*tokens.shape, HEADS, -1), 3, axis=-1)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(DIM / HEADS)
        weights = jax.nn.softmax(jnp.where(mask[:, None, None], scores, -1e9))
        x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape) @ layer["out"]
        x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
    pooled = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return (norm(pooled) @ params["head"])[:, 0]


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(5e-4))


@functools.partial(jax.jit, donate_argnums=(0, 1))
def update(params, state, tokens, target):
    loss, grads = jax.value_and_grad(lambda p: optax.huber_loss(predict(p, tokens), target).mean())(params)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


def main():
    rng = np.random.default_rng(0)
    chains, times = peptides(20000, rng)
    params = init(jax.random.PRNGKey(0))
    state = optimizer.init(params)
    began, step = time.time(), 0
    for epoch in range(20):
        order = rng.permutation(len(chains))
        for at in range(0, len(order) - BATCH + 1, BATCH):
            tokens, target = collate(chains, times, order[at:at + BATCH])
            params, state, loss = update(params, state, tokens, target)
            step += 1
            print(f"epoch {epoch} step {step} loss {float(loss):.4f} {time.time() - began:.1f}s", flush=True)


if __name__ == "__main__":
    main()
