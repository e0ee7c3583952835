# python: loops
# expected: weights-not-updated [also accepted: loss-frozen]
# verdict: slow
# seconds: 25
# where: jax.value_and_grad(self.objective)(self.params
# Why: the jitted method reads self.params, which become constants of the compiled function when it is traced; the
# optimizer moves self.params afterwards, but loss and gradients are for ever those of the first weights.
"""Learns the speed of a yacht from wind, sails and sea state, a smooth replacement for polar tables."""
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax


def sail(rng, n):
    """Draws conditions and the boat speed a towing-tank formula gives for them."""
    wind = rng.uniform(3, 30, n)
    angle = rng.uniform(30, 180, n)
    heel = rng.uniform(0, 35, n)
    wave = rng.gamma(2.0, 0.6, n)
    reef = rng.integers(0, 3, n)
    drive = np.sin(np.radians(angle) * 0.8) ** 1.5 * (1 - 0.18 * reef)
    speed = 9 * np.tanh(wind * drive / 14) * np.cos(np.radians(heel)) - 0.6 * wave * np.cos(np.radians(angle))
    speed += rng.normal(0, 0.15, n)
    x = np.stack([wind / 15 - 1, angle / 90 - 1.2, heel / 20 - 0.9, wave - 1.2, reef - 1.0], 1)
    return x.astype(np.float32), speed.astype(np.float32)


class SpeedModel:
    def __init__(self, widths=(5, 384, 384, 384, 1), learning_rate=1e-3, seed=0):
        keys = jax.random.split(jax.random.PRNGKey(seed), len(widths) - 1)
        self.params = [
            (jax.random.normal(k, (a, b)) / np.sqrt(a), jnp.zeros(b)) for k, a, b in zip(keys, widths, widths[1:])
        ]
        self.optimizer = optax.adamw(learning_rate, weight_decay=1e-4)
        self.opt_state = self.optimizer.init(self.params)

    @staticmethod
    def forward(params, x):
        for w, b in params[:-1]:
            x = jax.nn.silu(x @ w + b)
        w, b = params[-1]
        return (x @ w + b)[:, 0]

    def objective(self, params, x, y):
        return jnp.mean((self.forward(params, x) - y) ** 2)

    @partial(jax.jit, static_argnums=0)
    def gradients(self, x, y):
        return jax.value_and_grad(self.objective)(self.params, x, y)

    @partial(jax.jit, static_argnums=0)
    def apply(self, params, opt_state, grads):
        updates, opt_state = self.optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    def learn(self, x, y):
        loss, grads = self.gradients(x, y)
        self.params, self.opt_state = self.apply(self.params, self.opt_state, grads)
        return loss


def main():
    rng = np.random.default_rng(11)
    x, y = sail(rng, 80_000)
    model = SpeedModel()
    batch_size, step, start = 1024, 0, time.perf_counter()
    for epoch in range(400):
        order = rng.permutation(len(x))
        recent = []
        for at in range(0, len(order) - batch_size + 1, batch_size):
            pick = order[at : at + batch_size]
            recent.append(model.learn(x[pick], y[pick]))
            step += 1
            if step % 40 == 0:
                mse = float(jnp.mean(jnp.stack(recent[-40:])))
                took = time.perf_counter() - start
                print(f"epoch {epoch:3d} step {step:6d}  mse {mse:.4f} kn^2  ({took:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
