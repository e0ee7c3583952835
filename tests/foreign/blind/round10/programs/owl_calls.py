# python: loops
# expected: autotune-varying-shapes [also accepted: retracing]
# verdict: slow
# seconds: 32
# where: longest = max
# Why: each batch is padded to the longest call in it, so nearly every batch has a shape that jax.jit has not seen and the
# training step is compiled again; a compilation costs many times a step.
"""Tag owl calls by species: bidirectional recurrent network over frames, in JAX with optax."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

N_MELS, HIDDEN, SPECIES = 32, 64, 12
BATCH = 16


def make_calls(rng, n):
    """Each species hoots with its own pitch contour; the calls last from half a second to several."""
    contour = rng.normal(size=(SPECIES, 4))
    calls, labels = [], []
    for _ in range(n):
        species = int(rng.integers(SPECIES))
        frames = int(np.clip(rng.lognormal(4.6, 0.5), 40, 512))
        t = np.linspace(0, 1, frames)[:, None]
        centre = 0.5 + 0.12 * (contour[species, 0] * np.sin(6 * t) + contour[species, 1] * np.cos(11 * t))
        mel = np.exp(-((np.linspace(0, 1, N_MELS)[None] - centre) ** 2) / 0.01) + 0.25 * rng.normal(size=(frames, N_MELS))
        calls.append(mel.astype(np.float32))
        labels.append(species)
    return calls, np.array(labels)


def batches(rng, calls, labels):
    while True:
        order = rng.permutation(len(calls))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            pick = order[start:start + BATCH]
            longest = max(len(calls[i]) for i in pick)
            x = np.zeros((BATCH, longest, N_MELS), np.float32)
            mask = np.zeros((BATCH, longest), np.float32)
            for row, i in enumerate(pick):
                x[row, : len(calls[i])] = calls[i]
                mask[row, : len(calls[i])] = 1
            yield x, mask, labels[pick]


def init(key):
    def gru(key, d):
        k1, k2 = jax.random.split(key)
        return {"wx": jax.random.normal(k1, (d, 3 * HIDDEN)) * d ** -0.5,
                "wh": jax.random.normal(k2, (HIDDEN, 3 * HIDDEN)) * HIDDEN ** -0.5,
                "b": jnp.zeros(3 * HIDDEN)}
    k = jax.random.split(key, 3)
    return {"f": gru(k[0], N_MELS), "r": gru(k[1], N_MELS),
            "out": {"w": jax.random.normal(k[2], (2 * HIDDEN, SPECIES)) * 0.05, "b": jnp.zeros(SPECIES)}}


def run_gru(p, x, mask, reverse):
    def cell(h, inputs):
        gx, m = inputs
        gh = h @ p["wh"]
        r, z = jnp.split(jax.nn.sigmoid(gx[:, : 2 * HIDDEN] + gh[:, : 2 * HIDDEN]), 2, axis=-1)
        cand = jnp.tanh(gx[:, 2 * HIDDEN:] + r * gh[:, 2 * HIDDEN:])
        new = z * h + (1 - z) * cand
        h = jnp.where(m[:, None] > 0, new, h)
        return h, h
    gates = x @ p["wx"] + p["b"]
    _, hs = jax.lax.scan(cell, jnp.zeros((x.shape[1], HIDDEN)), (gates, mask), reverse=reverse)
    return hs


def logits_of(params, x, mask):
    x, mask = x.transpose(1, 0, 2), mask.T
    hs = jnp.concatenate([run_gru(params["f"], x, mask, False), run_gru(params["r"], x, mask, True)], -1)
    pooled = (hs * mask[..., None]).sum(0) / mask.sum(0)[:, None]
    return pooled @ params["out"]["w"] + params["out"]["b"]


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(2e-3))


@jax.jit
def train_step(params, opt_state, x, mask, y):
    def loss_fn(p):
        out = logits_of(p, x, mask)
        return optax.softmax_cross_entropy_with_integer_labels(out, y).mean(), (out.argmax(-1) == y).mean()
    (loss, acc), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss, acc


rng = np.random.default_rng(2)
calls, labels = make_calls(rng, 2500)
params = init(jax.random.PRNGKey(0))
opt_state = optimizer.init(params)
begun = time.time()
for step, (x, mask, y) in enumerate(batches(rng, calls, labels), 1):
    params, opt_state, loss, acc = train_step(params, opt_state, x, mask, y)
    if step % 2 == 0:
        print(f"[{time.time() - begun:6.1f} s] step {step:5d}  loss {float(loss):.3f}  acc {float(acc):.2f}", flush=True)
    if step == 20000:
        break
