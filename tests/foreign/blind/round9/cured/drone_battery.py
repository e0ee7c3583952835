"""Remaining flight time of a drone from its telemetry; the weights are averaged over the last part of training."""
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax


class Telemetry:
    def __init__(self, channels=40, seed=0):
        self.rng = np.random.default_rng(seed)
        self.channels = channels
        self.mix = self.rng.normal(0, 1, (channels, 6)).astype(np.float32) / np.sqrt(channels)

    def draw(self, n):
        x = self.rng.standard_normal((n, self.channels), np.float32)
        z = x @ self.mix
        y = np.tanh(z[:, 0] * z[:, 1]) + 0.5 * np.abs(z[:, 2]) - 0.3 * z[:, 3] + 0.05 * self.rng.standard_normal(n, np.float32)
        return x, y


def layers(key, sizes):
    out = []
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        out.append({"w": jax.random.normal(jax.random.fold_in(key, i), (a, b)) * jnp.sqrt(2 / a), "b": jnp.zeros(b)})
    return out


def predict(params, x):
    for p in params[:-1]:
        x = jax.nn.relu(x @ p["w"] + p["b"])
    return (x @ params[-1]["w"] + params[-1]["b"])[:, 0]


def mse(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


def main(steps=2000, batch=5000):
    data = Telemetry()
    params = layers(jax.random.PRNGKey(1), [data.channels, 320, 320, 320, 1])
    tx = optax.adam(optax.cosine_decay_schedule(1e-3, steps))
    opt_state = tx.init(params)

    @jax.jit
    def update(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(mse)(params, x, y)
        moves, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, moves), opt_state, loss

    kept, mean = 0, None
    began = time.time()
    for i in range(1, steps + 1):
        x, y = data.draw(batch)
        params, opt_state, loss = update(params, opt_state, x, y)
        if i > steps - 500:
            kept += 1
            mean = params if mean is None else jax.tree_util.tree_map(lambda a, w: a + (w - a) / kept, mean, params)
        if i % 10 == 0:
            sys.stdout.write(f"[{i:5d}/{steps}] loss={float(loss):.4f} ({i / (time.time() - began):.1f} it/s)\n")
            sys.stdout.flush()

    x, y = data.draw(20000)
    print(f"last weights {float(mse(params, x, y)):.4f}, averaged {float(mse(mean, x, y)):.4f}")


if __name__ == "__main__":
    main()
