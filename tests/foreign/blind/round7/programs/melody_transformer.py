# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 40
# Why: jit compiles four layers once, for a few seconds, before the first step; after that each step is matrix work of some hundred ms.
import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import trange

VOCAB, LENGTH, WIDTH, HEADS, DEPTH = 96, 96, 192, 6, 4


def melodies(n=2000):
    """Random walks on a scale, with repeated motifs."""
    rng = np.random.default_rng(30)
    scale = np.array([0, 2, 4, 5, 7, 9, 11])
    degree = np.clip(rng.integers(-2, 3, (n, 16)).cumsum(1) + 21, 0, 48)
    motif = scale[degree % 7] + 12 * (degree // 7)
    tune = np.tile(motif, (1, (LENGTH + 1) // 16 + 1))[:, :LENGTH + 1]
    slip = rng.random(tune.shape) < 0.08
    return np.where(slip, rng.integers(0, VOCAB, tune.shape), np.minimum(tune, VOCAB - 1)).astype(np.int32)


def init_block(key):
    k = jax.random.split(key, 4)
    scale = 0.02
    return {
        "ln1": jnp.ones(WIDTH), "ln2": jnp.ones(WIDTH),
        "qkv": scale * jax.random.normal(k[0], (WIDTH, 3 * WIDTH)),
        "proj": scale * jax.random.normal(k[1], (WIDTH, WIDTH)),
        "up": scale * jax.random.normal(k[2], (WIDTH, 4 * WIDTH)),
        "down": scale * jax.random.normal(k[3], (4 * WIDTH, WIDTH)),
    }


def norm(x, gain):
    return gain * (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def attend(p, x):
    b, t, _ = x.shape
    q, k, v = (z.reshape(b, t, HEADS, -1).transpose(0, 2, 1, 3) for z in jnp.split(x @ p["qkv"], 3, -1))
    score = q @ k.transpose(0, 1, 3, 2) / (WIDTH // HEADS) ** 0.5
    score = jnp.where(jnp.tril(jnp.ones((t, t), bool)), score, -1e9)
    return (jax.nn.softmax(score) @ v).transpose(0, 2, 1, 3).reshape(b, t, WIDTH) @ p["proj"]


def logits_fn(params, notes):
    x = params["embed"][notes] + params["place"][: notes.shape[1]]
    for p in params["blocks"]:
        x = x + attend(p, norm(x, p["ln1"]))
        x = x + jax.nn.gelu(norm(x, p["ln2"]) @ p["up"]) @ p["down"]
    return x @ params["embed"].T


def loss_fn(params, notes):
    out = logits_fn(params, notes[:, :-1])
    return optax.softmax_cross_entropy_with_integer_labels(out, notes[:, 1:]).mean()


def main():
    tunes = melodies()
    key = jax.random.PRNGKey(0)
    ke, kp, *kb = jax.random.split(key, 2 + DEPTH)
    params = {"embed": 0.02 * jax.random.normal(ke, (VOCAB, WIDTH)), "place": 0.02 * jax.random.normal(kp, (LENGTH, WIDTH)),
              "blocks": [init_block(k) for k in kb]}
    tx = optax.adamw(6e-4)
    state = tx.init(params)

    @jax.jit
    def step(params, state, notes):
        loss, grads = jax.value_and_grad(loss_fn)(params, notes)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    rng = np.random.default_rng(0)
    with trange(20_000, desc="train") as bar:
        for _ in bar:
            params, state, loss = step(params, state, tunes[rng.integers(0, len(tunes), 6)])
            bar.set_postfix(loss=f"{float(loss):.3f}")


if __name__ == "__main__":
    main()
