# python: loops
# expected: host-memory-leak
# verdict: healthy|slow
# seconds: 30
# where: snapshots.append
# Why: for averaging the last ten weights the parameters of every step are appended to a list that is never shortened.
import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

TILE = 32
WIDTHS = (TILE * TILE, 112, 24, 112, TILE * TILE)
AVERAGE_OVER = 10


def tiles(n):
    rng = np.random.default_rng(4)
    coarse = rng.normal(size=(n, 5, 5))
    grid = np.linspace(0, 4, TILE)
    lo = np.clip(grid.astype(int), 0, 3)
    w = grid - lo
    rows = coarse[:, lo] * (1 - w)[None, :, None] + coarse[:, lo + 1] * w[None, :, None]
    full = rows[:, :, lo] * (1 - w) + rows[:, :, lo + 1] * w
    full += rng.normal(0, 0.1, full.shape)
    return full.reshape(n, -1).astype(np.float32)


def init_layers(seed):
    keys = jax.random.split(jax.random.PRNGKey(seed), len(WIDTHS) - 1)
    return [
        {"w": jax.random.normal(k, (a, b)) * np.sqrt(2.0 / (a + b)), "b": jnp.zeros(b)}
        for k, a, b in zip(keys, WIDTHS[:-1], WIDTHS[1:])
    ]


def reconstruct(layers, x):
    for layer in layers[:-1]:
        x = jax.nn.silu(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


class Trainer:
    def __init__(self, data, batch):
        self.data = data
        self.batch = batch
        self.tx = optax.adam(1e-3)
        self.layers = init_layers(0)
        self.opt_state = self.tx.init(self.layers)
        self.snapshots = []
        self._step = jax.jit(self._make_step())
        self._error = jax.jit(lambda layers, x: jnp.mean((reconstruct(layers, x) - x) ** 2))

    def _make_step(self):
        def loss_fn(layers, x, noise):
            return jnp.mean((reconstruct(layers, x + noise) - x) ** 2)

        def step(layers, opt_state, x, key):
            noise = 0.2 * jax.random.normal(key, x.shape)
            loss, grads = jax.value_and_grad(loss_fn)(layers, x, noise)
            updates, opt_state = self.tx.update(grads, opt_state)
            return optax.apply_updates(layers, updates), opt_state, loss

        return step

    def averaged(self):
        recent = list(self.snapshots)[-AVERAGE_OVER:]
        return jax.tree_util.tree_map(lambda *leaves: sum(leaves) / len(leaves), *recent)

    def run(self, steps):
        rng = np.random.default_rng(9)
        key = jax.random.PRNGKey(7)
        bar = tqdm(range(steps), unit="step")
        for i in bar:
            key, sub = jax.random.split(key)
            rows = rng.integers(0, len(self.data), self.batch)
            self.layers, self.opt_state, loss = self._step(self.layers, self.opt_state, self.data[rows], sub)
            self.snapshots.append(self.layers)
            if i % 100 == 99:
                held_out = self._error(self.averaged(), self.data[:512])
                bar.set_postfix(loss=f"{loss:.4f}", averaged=f"{held_out:.4f}")


if __name__ == "__main__":
    Trainer(tiles(20000), batch=2048).run(200000)
