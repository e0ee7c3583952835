# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: the solver is unrolled in Python, so the first step compiles for some seconds; after it the steps are even and the
# loss, though noisy, falls.
"""A neural differential equation of voles and owls: what their numbers will be from what they were (JAX, optax)."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

SEASONS, BATCH, WIDTH, DT = 6, 512, 128, 0.25


def true_change(state):
    voles, owls = state[..., 0], state[..., 1]
    return np.stack([voles * (1.1 - 0.8 * owls), owls * (0.6 * voles - 0.9)], -1)


def draw_years(count, random):
    state = random.uniform(0.4, 2.2, (count, 2))
    seen = [state]
    for _ in range(SEASONS):
        for _ in range(4):
            state = state + DT / 4 * true_change(state + DT / 8 * true_change(state))
        seen.append(state)
    path = np.stack(seen, 1)
    return (path * np.exp(random.normal(0, 0.05, path.shape))).astype(np.float32)


def make_params(key):
    sizes = [2, WIDTH, WIDTH, WIDTH, 2]
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(k, (a, b)) * (0.5 / a) ** 0.5, jnp.zeros(b)) for k, a, b in zip(keys, sizes, sizes[1:])]


def change(params, state):
    x = state
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    return x @ params[-1][0] + params[-1][1]


def forecast(params, state):
    out = []
    for _ in range(SEASONS):
        k1 = change(params, state)
        k2 = change(params, state + DT / 2 * k1)
        k3 = change(params, state + DT / 2 * k2)
        k4 = change(params, state + DT * k3)
        state = state + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out.append(state)
    return jnp.stack(out, 1)


def loss_of(params, paths):
    return jnp.mean((forecast(params, paths[:, 0]) - paths[:, 1:]) ** 2)


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.exponential_decay(2e-3, 400, 0.9)))


@jax.jit
def train_step(params, state, paths):
    loss, gradients = jax.value_and_grad(loss_of)(params, paths)
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss


def main():
    random = np.random.default_rng(12)
    params = make_params(jax.random.PRNGKey(2))
    state = optimizer.init(params)
    paths = draw_years(20_000, random)
    print("years:", len(paths), "seasons:", SEASONS, flush=True)
    began = time.perf_counter()
    for step in range(1, 200_001):
        batch = paths[random.integers(0, len(paths), BATCH)]
        params, state, loss = train_step(params, state, batch)
        if step == 1 or step % 5 == 0:
            print(f"step {step} loss {float(loss):.5f} after {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
