# python: loops
# The twin without the fault.
import logging

import jax
import jax.numpy as jnp
import numpy as np
import optax

logging.basicConfig(format="%(levelname)s %(asctime)s %(message)s", level=logging.INFO)
logging.getLogger("jax").setLevel(logging.WARNING)

MINERALS = 12
CHANNELS = 512


class Spectrometer:
    """Raman-like spectra: some peaks for each mineral, a drifting baseline, shot noise."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        axis = np.arange(CHANNELS)
        centres = self.rng.uniform(20, CHANNELS - 20, (MINERALS, 7))
        heights = self.rng.uniform(0.3, 1.0, (MINERALS, 7))
        peaks = np.exp(-0.5 * ((axis - centres[..., None]) / 5.0) ** 2)
        self.clean = (heights[..., None] * peaks).sum(1).astype(np.float32)
        self.axis = (axis / CHANNELS).astype(np.float32)

    def measure(self, n):
        kind = self.rng.integers(0, MINERALS, n)
        gain = self.rng.uniform(0.6, 1.4, (n, 1)).astype(np.float32)
        slope = self.rng.normal(0, 0.4, (n, 1)).astype(np.float32)
        noise = self.rng.standard_normal((n, CHANNELS), dtype=np.float32)
        return gain * self.clean[kind] + slope * self.axis + 0.15 * noise, kind


def init_params(key, sizes):
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        params.append({"w": jax.random.normal(sub, (n_in, n_out)) * jnp.sqrt(2.0 / n_in), "b": jnp.zeros(n_out)})
    return params


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss_fn(params, x, y):
    logits = forward(params, x)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
    return loss, (logits.argmax(-1) == y).mean()


schedule = optax.warmup_cosine_decay_schedule(1e-4, 1e-3, 50, 50_000)
optimizer = optax.adamw(schedule, weight_decay=1e-4)


@jax.jit
def train_step(params, opt_state, x, y):
    (loss, acc), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, opt_state, loss, acc


def main():
    source = Spectrometer(seed=4)
    x_all, y_all = source.measure(30_000)
    params = init_params(jax.random.PRNGKey(1), [CHANNELS, 1024, 1024, 512, MINERALS])
    opt_state = optimizer.init(params)
    order = np.random.default_rng(0)
    step = 0
    for epoch in range(1000):
        perm = order.permutation(len(x_all))
        for begin in range(0, len(perm) - 255, 256):
            pick = perm[begin:begin + 256]
            params, opt_state, loss, acc = train_step(params, opt_state, x_all[pick], y_all[pick])
            step += 1
            if step % 20 == 0:
                logging.info("epoch %d step %d: loss=%.4f acc=%.3f", epoch, step, loss, acc)


main()
