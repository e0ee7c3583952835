# python: loops
# expected: nan-loss
# verdict: healthy|slow
# seconds: 25
# where: jnp.sqrt / dist =
# Why: a pair that holds the same signature twice has distance 0, where the gradient of sqrt is infinite times 0: NaN in all weights.
import logging

import jax
import jax.numpy as jnp
import numpy as np
import optax

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
logging.getLogger("jax").setLevel(logging.WARNING)
log = logging.getLogger("signatures")

WRITERS, PER_WRITER, SIDE = 120, 24, 32


class SignaturePairs:
    """Half of the pairs come from one writer, half from two."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        strokes = self.rng.standard_normal((WRITERS, 1, SIDE * SIDE))
        wobble = self.rng.standard_normal((WRITERS, PER_WRITER, SIDE * SIDE))
        self.images = (0.6 * strokes + 0.8 * wobble).astype(np.float32)

    def batch(self, size=128):
        a = self.rng.integers(0, WRITERS, size)
        same = self.rng.random(size) < 0.5
        b = np.where(same, a, self.rng.integers(0, WRITERS, size))
        left = self.images[a, self.rng.integers(0, PER_WRITER, size)]
        right = self.images[b, self.rng.integers(0, PER_WRITER, size)]
        return left, right, (a == b).astype(np.float32)


def init(key, sizes=(SIDE * SIDE, 512, 256, 64)):
    out = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        out.append((jax.random.normal(sub, (n_in, n_out)) * np.sqrt(2.0 / n_in), jnp.zeros(n_out)))
    return out


def embed(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def contrastive(params, left, right, same, margin=4.0):
    diff = embed(params, left) - embed(params, right)
    dist = jnp.sqrt(jnp.sum(diff ** 2, axis=-1))
    push = jnp.maximum(margin - dist, 0.0) ** 2
    return jnp.mean(same * dist ** 2 + (1 - same) * push)


def run():
    pairs = SignaturePairs()
    params = init(jax.random.PRNGKey(1))
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(2e-4))
    opt_state = tx.init(params)

    @jax.jit
    def update(params, opt_state, left, right, same):
        value, grads = jax.value_and_grad(contrastive)(params, left, right, same)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, value

    step = 0
    while True:
        params, opt_state, value = update(params, opt_state, *pairs.batch())
        step += 1
        if step % 40 == 1:
            log.info("step=%d contrastive_loss=%.5f", step, value)


if __name__ == "__main__":
    run()
