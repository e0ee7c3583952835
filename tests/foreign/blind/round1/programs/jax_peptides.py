# python: loops
# expected: autotune-varying-shapes [also accepted: retracing]
# verdict: slow
# seconds: 40
# where: update( / longest = / np.zeros((BATCH
# Why: each batch is padded to its own longest peptide, so nearly every batch has a new shape and jit compiles the step for it again.
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

RESIDUES, WIDTH, BATCH = 22, 48, 16


def make_peptides(n=3000):
    rng = np.random.default_rng(67)
    sequences, binding = [], []
    weight = rng.normal(size=RESIDUES)
    for _ in range(n):
        chain = rng.integers(1, RESIDUES, int(rng.integers(20, 900)))
        sequences.append(chain)
        binding.append(weight[chain].mean() * 3)
    return sequences, np.array(binding, dtype="float32")


def collate(sequences, binding, rows):
    longest = max(len(sequences[i]) for i in rows)
    tokens = np.zeros((BATCH, longest), dtype="int32")
    for r, i in enumerate(rows):
        tokens[r, :len(sequences[i])] = sequences[i]
    return tokens, binding[rows]


def init(key, layers=4):
    keys = jax.random.split(key, layers + 2)
    return {"embed": jax.random.normal(keys[0], (RESIDUES, WIDTH)) * 0.3,
            "convs": [jax.random.normal(k, (5, WIDTH, WIDTH)) / np.sqrt(5 * WIDTH) for k in keys[1:-1]],
            "head": jax.random.normal(keys[-1], (WIDTH,)) * 0.1}


def predict(params, tokens):
    mask = (tokens > 0)[..., None].astype(jnp.float32)
    x = params["embed"][tokens] * mask
    for kernel in params["convs"]:
        y = jax.lax.conv_general_dilated(x, kernel, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
        x = (x + jax.nn.gelu(y)) * mask
    return (x.sum(axis=1) / mask.sum(axis=1)) @ params["head"]


optimizer = optax.adam(2e-3)


@jax.jit
def update(params, state, tokens, target):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((predict(p, tokens) - target) ** 2))(params)
    changes, state = optimizer.update(grads, state)
    return optax.apply_updates(params, changes), state, loss


def main():
    sequences, binding = make_peptides()
    params = init(jax.random.PRNGKey(0))
    state = optimizer.init(params)
    rng, started = np.random.default_rng(1), time.time()
    for step in range(1, 20001):
        tokens, target = collate(sequences, binding, rng.integers(0, len(sequences), BATCH))
        params, state, loss = update(params, state, tokens, target)
        if step % 2 == 0:
            print(f"step {step}  loss {float(loss):.4f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
