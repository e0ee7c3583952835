# python: loops
# expected: autotune-varying-shapes [also accepted: retracing, first-step-compiling]
# verdict: slow
# seconds: 40
# where: update(params / @jax.jit / jnp.asarray
# Why: each batch is padded only to its own longest molecule and edge count, so nearly every batch has a new shape and jit compiles again; natural with graphs and texts, and nothing warns.
import jax
import jax.numpy as jnp
import numpy as np
import optax

ATOMS, HIDDEN, ROUNDS, BATCH = 12, 48, 3, 24
rng = np.random.default_rng(31)


def make_molecule():
    n = int(rng.integers(8, 150))
    atom = rng.integers(0, ATOMS, n)
    chain = np.stack([np.arange(n - 1), np.arange(1, n)])
    rings = rng.integers(0, n, (2, n // 4))
    src, dst = np.concatenate([chain, rings], 1)
    target = (atom == 3).mean() + 0.5 * (atom[src] == atom[dst]).mean()
    return atom, np.concatenate([src, dst]), np.concatenate([dst, src]), target


def join(molecules):
    atoms, srcs, dsts, owner, offset = [], [], [], [], 0
    for k, (atom, src, dst, _) in enumerate(molecules):
        atoms.append(atom)
        srcs.append(src + offset)
        dsts.append(dst + offset)
        owner.append(np.full(len(atom), k))
        offset += len(atom)
    return [jnp.asarray(np.concatenate(p)) for p in (atoms, srcs, dsts, owner)], \
        jnp.asarray(np.array([m[3] for m in molecules], np.float32))


def init(key):
    keys = jax.random.split(key, ROUNDS * 2 + 2)
    params = {"emb": 0.3 * jax.random.normal(keys[0], (ATOMS, HIDDEN)),
              "out": 0.1 * jax.random.normal(keys[1], (HIDDEN, 1))}
    for r in range(ROUNDS):
        params[f"msg{r}"] = jax.random.normal(keys[2 + 2 * r], (HIDDEN, HIDDEN)) / HIDDEN ** 0.5
        params[f"upd{r}"] = jax.random.normal(keys[3 + 2 * r], (2 * HIDDEN, HIDDEN)) / (2 * HIDDEN) ** 0.5
    return params


def predict(params, graph):
    atom, src, dst, owner = graph
    h = params["emb"][atom]
    for r in range(ROUNDS):
        m = jax.ops.segment_sum(jax.nn.relu(h[src] @ params[f"msg{r}"]), dst, num_segments=h.shape[0])
        h = h + jnp.tanh(jnp.concatenate([h, m / 3], 1) @ params[f"upd{r}"])
    total = jax.ops.segment_sum(h, owner, num_segments=BATCH)
    count = jax.ops.segment_sum(jnp.ones(h.shape[0]), owner, num_segments=BATCH)
    return ((total / jnp.maximum(count, 1)[:, None]) @ params["out"])[:, 0]


optimizer = optax.adam(2e-3)


@jax.jit
def update(params, state, graph, target):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((predict(p, graph) - target) ** 2))(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


def main():
    molecules = [make_molecule() for _ in range(4000)]
    params = init(jax.random.PRNGKey(0))
    state = optimizer.init(params)
    for step in range(1, 50001):
        graph, target = join([molecules[i] for i in rng.integers(0, len(molecules), BATCH)])
        params, state, loss = update(params, state, graph, target)
        if step % 2 == 0:
            print(f"step {step} mse {float(loss):.5f}", flush=True)


if __name__ == "__main__":
    main()
