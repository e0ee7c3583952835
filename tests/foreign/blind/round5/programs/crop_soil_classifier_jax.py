# python: loops
# expected: weights-not-updated [also accepted: loss-frozen]
# verdict: healthy|slow
# seconds: 25
# where: optax.apply_updates
# Why: optax.apply_updates returns the new weights; the result is thrown away and the old ones go round.
"""Which of eight crops suits a field? Soil spectra -> crop, plain JAX MLP."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

BANDS, CROPS, BATCH = 200, 8, 512


def spectra(n, seed):
    rng = np.random.default_rng(seed)
    crop = rng.integers(0, CROPS, n)
    wave = np.linspace(0, 1, BANDS)[None]
    centre = 0.1 + 0.1 * crop[:, None] + 0.01 * rng.standard_normal((n, 1))
    dip = np.exp(-((wave - centre) / 0.05) ** 2)
    x = 0.5 + 0.2 * wave - 0.3 * dip + 0.25 * rng.standard_normal((n, BANDS))
    x = (x - x.mean(0)) / x.std(0)
    return x.astype(np.float32), crop.astype(np.int32)


def init_mlp(key, widths):
    keys = jax.random.split(key, len(widths))
    return [{"w": jax.random.normal(k, (a, b)) * jnp.sqrt(2.0 / a), "b": jnp.zeros((b,))}
            for k, a, b in zip(keys, widths[:-1], widths[1:])]


def logits_fn(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss_fn(params, x, y):
    ce = optax.softmax_cross_entropy_with_integer_labels(logits_fn(params, x), y)
    return ce.mean()


tx = optax.adamw(optax.cosine_decay_schedule(1e-3, 200_000), weight_decay=1e-4)


@jax.jit
def step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = tx.update(grads, opt_state, params)
    optax.apply_updates(params, updates)
    return params, opt_state, loss


@jax.jit
def accuracy(params, x, y):
    return (logits_fn(params, x).argmax(-1) == y).mean()


def main():
    x_train, y_train = spectra(60_000, 0)
    x_test, y_test = spectra(4_000, 1)
    params = init_mlp(jax.random.PRNGKey(7), [BANDS, 1024, 512, CROPS])
    opt_state = tx.init(params)
    rng = np.random.default_rng(2)
    steps = len(x_train) // BATCH
    for epoch in range(1000):
        order = rng.permutation(len(x_train))
        bar = tqdm(range(steps), desc=f"epoch {epoch}")
        for i in bar:
            idx = order[i * BATCH:(i + 1) * BATCH]
            params, opt_state, loss = step(params, opt_state, x_train[idx], y_train[idx])
            if i % 20 == 0:
                bar.set_postfix(loss=f"{loss:.4f}")
        print(f"epoch {epoch} loss {loss:.4f} test accuracy {accuracy(params, x_test, y_test):.3f}", flush=True)


if __name__ == "__main__":
    main()
