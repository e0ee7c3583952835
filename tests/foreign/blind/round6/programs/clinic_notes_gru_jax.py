# python: loops
# expected: autotune-varying-shapes [also accepted: retracing]
# verdict: slow
# seconds: 30
# where: update(params / jax.jit / def update / value_and_grad
# Why: every batch is padded to its own longest note, so nearly every batch has a new shape and XLA compiles the step again.
import logging

import jax
import jax.numpy as jnp
import numpy as np
import optax

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
logging.getLogger("jax").setLevel(logging.WARNING)
log = logging.getLogger("notes")

VOCAB = 2000
HIDDEN = 96
WARDS = 8


def notes(n, rng):
    out = []
    for _ in range(n):
        ward = int(rng.integers(WARDS))
        length = int(np.clip(rng.lognormal(4.6, 0.6), 12, 380))
        words = rng.integers(1, VOCAB, length)
        hint = rng.random(length) < 0.15
        words[hint] = 1 + ward * 20 + rng.integers(0, 20, hint.sum())
        out.append((words, ward))
    return out


def batches(corpus, size, rng):
    while True:
        order = rng.permutation(len(corpus))
        for lo in range(0, len(order) - size + 1, size):
            part = [corpus[i] for i in order[lo:lo + size]]
            width = max(len(w) for w, _ in part)
            ids = np.zeros((size, width), np.int32)
            for row, (w, _) in enumerate(part):
                ids[row, :len(w)] = w
            yield ids, np.array([y for _, y in part], np.int32)


def init(key):
    k = jax.random.split(key, 4)
    s = HIDDEN ** -0.5
    return {
        "emb": jax.random.normal(k[0], (VOCAB, HIDDEN)) * 0.1,
        "wx": jax.random.normal(k[1], (HIDDEN, 3 * HIDDEN)) * s,
        "wh": jax.random.normal(k[2], (HIDDEN, 3 * HIDDEN)) * s,
        "b": jnp.zeros(3 * HIDDEN),
        "out": jax.random.normal(k[3], (HIDDEN, WARDS)) * s,
    }


def forward(params, ids):
    x = params["emb"][ids] @ params["wx"] + params["b"]
    mask = (ids > 0)[..., None]

    def cell(h, inp):
        xt, mt = inp
        hh = h @ params["wh"]
        z = jax.nn.sigmoid(xt[:, :HIDDEN] + hh[:, :HIDDEN])
        r = jax.nn.sigmoid(xt[:, HIDDEN:2 * HIDDEN] + hh[:, HIDDEN:2 * HIDDEN])
        c = jnp.tanh(xt[:, 2 * HIDDEN:] + r * hh[:, 2 * HIDDEN:])
        new = jnp.where(mt, (1 - z) * c + z * h, h)
        return new, new

    h0 = jnp.zeros((ids.shape[0], HIDDEN))
    _, states = jax.lax.scan(cell, h0, (x.swapaxes(0, 1), mask.swapaxes(0, 1)))
    pooled = (states * mask.swapaxes(0, 1)).sum(0) / mask.sum(1)
    return pooled @ params["out"]


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(2e-3))


@jax.jit
def update(params, state, ids, wards):
    def loss_fn(p):
        return optax.softmax_cross_entropy_with_integer_labels(forward(p, ids), wards).mean()
    loss, grads = jax.value_and_grad(loss_fn)(params)
    delta, state = tx.update(grads, state)
    return optax.apply_updates(params, delta), state, loss


rng = np.random.default_rng(2)
corpus = notes(6000, rng)
params = init(jax.random.PRNGKey(0))
state = tx.init(params)
for step, (ids, wards) in enumerate(batches(corpus, 32, rng), start=1):
    params, state, loss = update(params, state, ids, wards)
    if step % 5 == 0:
        log.info("step %d loss %.4f", step, loss)
