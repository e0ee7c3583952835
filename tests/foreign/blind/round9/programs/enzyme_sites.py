# python: loops
# expected: autotune-varying-shapes [also accepted: retracing]
# verdict: slow
# seconds: 30
# where: max(len(s) for s in chosen)
# Why: every batch is padded to its own longest chain, so nearly every step brings a new shape and XLA compiles the step once more.
"""Marks the active sites of made-up enzymes, residue by residue (JAX, optax)."""
import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

ACIDS, PAD = 20, 20


def make_chains(n, seed):
    rng = np.random.default_rng(seed)
    chains, marks = [], []
    for length in rng.integers(60, 420, n):
        chain = rng.integers(0, ACIDS, length)
        mark = np.zeros(length, np.float32)
        mark[1:-1] = (chain[:-2] < 6) & (chain[1:-1] > 11) & (chain[2:] < 9)
        chains.append(chain)
        marks.append(mark)
    return chains, marks


def init(key, width, depth):
    keys = jax.random.split(key, depth + 2)
    params = {"embed": jax.random.normal(keys[0], (ACIDS + 1, width)) * 0.1, "out": jax.random.normal(keys[1], (width,)) * 0.1}
    params["layers"] = [(jax.random.normal(k, (5, width, width)) / np.sqrt(5 * width), jnp.zeros(width)) for k in keys[2:]]
    return params


def forward(params, ids):
    h = params["embed"][ids]
    for w, b in params["layers"]:
        h = h + jax.nn.gelu(jax.lax.conv_general_dilated(h, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")) + b)
    return h @ params["out"]


def loss_fn(params, ids, marks):
    real = ids != PAD
    each = optax.sigmoid_binary_cross_entropy(forward(params, ids), marks)
    return jnp.sum(each * real) / jnp.sum(real)


def batches(chains, marks, size, seed):
    rng = np.random.default_rng(seed)
    while True:
        pick = rng.choice(len(chains), size, replace=False)
        chosen = [chains[i] for i in pick]
        longest = max(len(s) for s in chosen)
        ids = np.full((size, longest), PAD, np.int32)
        target = np.zeros((size, longest), np.float32)
        for row, i in enumerate(pick):
            ids[row, :len(chains[i])] = chains[i]
            target[row, :len(marks[i])] = marks[i]
        yield ids, target


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--width", type=int, default=48)
    p.add_argument("--depth", type=int, default=6)
    p.add_argument("--batch", type=int, default=4)
    p.add_argument("--steps", type=int, default=5000)
    args = p.parse_args()
    params = init(jax.random.PRNGKey(0), args.width, args.depth)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(2e-3))
    state = tx.init(params)

    @jax.jit
    def step(params, state, ids, target):
        loss, grads = jax.value_and_grad(loss_fn)(params, ids, target)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    began = time.time()
    for n, (ids, target) in enumerate(batches(*make_chains(4000, 1), args.batch, 2), 1):
        params, state, loss = step(params, state, ids, target)
        if n % 2 == 0:
            print(f"step {n}/{args.steps}  loss {float(loss):.4f}  {time.time() - began:.1f} s", flush=True)
        if n == args.steps:
            break


if __name__ == "__main__":
    main()
