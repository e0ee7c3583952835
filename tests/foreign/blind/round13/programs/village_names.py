# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: nothing is wrong. Names are padded to one of three lengths, so the step is compiled three times and never again;
# the printed loss jumps between batches of short and of long names, and the weights are pickled now and then.
"""Guesses the region of a village from the spelling of its name, with a small attention model in JAX."""
import os
import pickle
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

REGIONS = {
    "north": ("thor svein grim ulf hav berg", "by thorpe toft garth wick"),
    "west": ("llan tre pen aber pont caer", "wen fach ddu mawr goch"),
    "east": ("stan wood ash ing burn ox", "ham ton ford ley worth"),
    "south": ("saint val mont roc beau fon", "ville court ac ieu mer"),
    "coast": ("port san cala rio punta al", "mar eira inho ana osa"),
}
ALPHABET = "-abcdefghijklmnopqrstuvwxyz"
LENGTHS = (12, 20, 32)
DIM, HEADS, BLOCKS = 128, 4, 1


def make_name(rng, region):
    firsts, lasts = (part.split() for part in REGIONS[region])
    parts = [firsts[rng.integers(len(firsts))] for _ in range(rng.integers(1, 5))] + [lasts[rng.integers(len(lasts))]]
    if rng.random() < 0.2:
        other = list(REGIONS)[rng.integers(len(REGIONS))]
        parts[0] = REGIONS[other][0].split()[rng.integers(6)]
    letters = list(("-" if rng.random() < 0.2 else "").join(parts))
    for i in range(len(letters)):
        if rng.random() < 0.12:
            letters[i] = ALPHABET[rng.integers(1, 27)]
    return "".join(letters)[: LENGTHS[-1]]


def make_buckets(count, rng):
    """Per length: codes of the letters (0 is padding) and the region of each name."""
    found = {length: ([], []) for length in LENGTHS}
    for _ in range(count):
        label = int(rng.integers(len(REGIONS)))
        name = make_name(rng, list(REGIONS)[label])
        length = next(n for n in LENGTHS if len(name) <= n)
        codes = [ALPHABET.index(c) + 1 for c in name]
        found[length][0].append(codes + [0] * (length - len(codes)))
        found[length][1].append(label)
    return {n: (np.array(codes, np.int32), np.array(labels, np.int32)) for n, (codes, labels) in found.items()}


def init(rng):
    def matrix(n_in, n_out):
        return rng.normal(0, n_in**-0.5, (n_in, n_out)).astype(np.float32)

    shapes = {"qkv": (DIM, 3 * DIM), "out": (DIM, DIM), "up": (DIM, 3 * DIM), "down": (3 * DIM, DIM)}
    blocks = [{name: matrix(*shape) for name, shape in shapes.items()} for _ in range(BLOCKS)]
    return {
        "letters": rng.normal(0, 0.5, (len(ALPHABET) + 1, DIM)).astype(np.float32),
        "places": rng.normal(0, 0.2, (LENGTHS[-1], DIM)).astype(np.float32),
        "blocks": blocks,
        "head": matrix(DIM, len(REGIONS)),
    }


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def logits_of(params, codes):
    there = codes > 0
    x = params["letters"][codes] + params["places"][: codes.shape[1]]
    for block in params["blocks"]:
        q, k, v = jnp.split((norm(x) @ block["qkv"]).reshape(*codes.shape, HEADS, -1), 3, axis=-1)
        weights = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(DIM / HEADS)
        weights = jax.nn.softmax(jnp.where(there[:, None, None], weights, -1e9))
        x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(*codes.shape, DIM) @ block["out"]
        x = x + jax.nn.gelu(norm(x) @ block["up"]) @ block["down"]
    pooled = (norm(x) * there[..., None]).sum(1) / there.sum(1, keepdims=True)
    return pooled @ params["head"]


def objective(params, codes, labels):
    logits = logits_of(params, codes)
    hit = jnp.mean(logits.argmax(-1) == labels)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), hit


optimizer = optax.adamw(3e-4)


@jax.jit
def train_step(params, state, codes, labels):
    (loss, hit), grads = jax.value_and_grad(objective, has_aux=True)(params, codes, labels)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss, hit


if __name__ == "__main__":
    rng = np.random.default_rng(21)
    buckets = make_buckets(30000, rng)
    sizes = np.array([len(labels) for _, labels in buckets.values()])
    print("names per length:", dict(zip(LENGTHS, sizes.tolist())), flush=True)
    params = init(rng)
    state = optimizer.init(params)
    kept = os.path.join(tempfile.gettempdir(), "village_names.pickle")
    began = time.time()
    for step in range(1, 20001):
        length = LENGTHS[rng.choice(len(LENGTHS), p=sizes / sizes.sum())]
        codes, labels = buckets[length]
        rows = rng.integers(0, len(labels), 128)
        params, state, loss, hit = train_step(params, state, codes[rows], labels[rows])
        if step % 10 == 0:
            took = time.time() - began
            print(f"step {step} length {length} loss {float(loss):.3f} hits {float(hit):.2f} {took:.1f} s", flush=True)
        if step % 150 == 0:
            with open(kept, "wb") as out:
                pickle.dump(jax.device_get((step, params, state)), out)
