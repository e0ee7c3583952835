# python: loops
# expected: nan-loss
# verdict: healthy|slow
# seconds: 25
# where: jnp.sqrt
# Why: the distance of each song to itself is 0 and the slope of the square root there is infinite; masked with 0 it gives NaN gradients at once.
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

SPECIES = 20
BANDS, FRAMES = 40, 48


class SongBook:
    def __init__(self, per_species=60, seed=0):
        rng = np.random.default_rng(seed)
        base = rng.normal(size=(SPECIES, BANDS, FRAMES)).astype(np.float32)
        songs = np.repeat(base, per_species, axis=0)
        shift = rng.integers(-6, 7, len(songs))
        self.songs = np.stack([np.roll(s, k, axis=1) for s, k in zip(songs, shift)])
        self.songs += 0.8 * rng.standard_normal(self.songs.shape, dtype=np.float32)
        self.species = np.repeat(np.arange(SPECIES), per_species)
        self.rng = rng

    def draw(self, count):
        rows = self.rng.integers(0, len(self.songs), count)
        return self.songs[rows].reshape(count, -1), self.species[rows]


def init_params(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(k, (a, b)) * jnp.sqrt(2.0 / a), jnp.zeros(b))
        for k, a, b in zip(keys, sizes[:-1], sizes[1:])
    ]


def embed(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def distances(e):
    gap = e[:, None, :] - e[None, :, :]
    return jnp.sqrt(jnp.sum(gap ** 2, axis=-1))


def contrastive(params, x, species, margin=4.0):
    d = distances(embed(params, x))
    same = (species[:, None] == species[None, :]).astype(jnp.float32)
    others = 1.0 - jnp.eye(len(species))
    pull = jnp.sum(same * others * d) / jnp.maximum(jnp.sum(same * others), 1.0)
    push = jnp.sum((1 - same) * jax.nn.relu(margin - d)) / jnp.sum(1 - same)
    return pull + push


@functools.partial(jax.jit, static_argnums=0)
def train_step(tx, params, state, x, species):
    loss, grads = jax.value_and_grad(contrastive)(params, x, species)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


book = SongBook()
tx = optax.adam(3e-4)
params = init_params(jax.random.PRNGKey(7), [BANDS * FRAMES, 512, 256, 32])
state = tx.init(params)
for step in range(1_000_000):
    x, species = book.draw(128)
    params, state, loss = train_step(tx, params, state, x, species)
    if step % 20 == 0:
        print(f"{step:>7} contrastive loss {loss:.4f}", flush=True)
