# python: loops
# expected: first-step-compiling
# verdict: slow|not-started
# seconds: 30
# where: for day in range(DAYS) / update(params, opt_state
# Why: the recurrence over the days is a Python loop inside jit, so XLA gets the GRU cell hundreds of times, forward and backward, and compiles for minutes.
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

DAYS = 730
GAUGES = 8
HIDDEN = 64
BATCH = 32


def synthetic_catchment(years=40, seed=0):
    rng = np.random.default_rng(seed)
    days = np.arange(years * 365)
    rain = rng.gamma(0.4, 6.0, (len(days), GAUGES)) * (1.2 + np.cos(2 * np.pi * days / 365))[:, None]
    kernel = np.exp(-np.arange(30) / 6.0)
    flow = np.convolve(rain.mean(axis=1), kernel / kernel.sum(), mode="full")[:len(days)]
    return (rain / 10).astype(np.float32), (flow / 5).astype(np.float32)


def init(key):
    k = jax.random.split(key, 3)
    return {
        "wx": jax.random.normal(k[0], (GAUGES, 3 * HIDDEN)) * 0.2,
        "wh": jax.random.normal(k[1], (HIDDEN, 3 * HIDDEN)) * 0.1,
        "b": jnp.zeros(3 * HIDDEN),
        "out": jax.random.normal(k[2], (HIDDEN, 1)) * 0.1,
    }


def cell(params, h, rain):
    gx = rain @ params["wx"] + params["b"]
    gh = h @ params["wh"]
    r = jax.nn.sigmoid(gx[:, :HIDDEN] + gh[:, :HIDDEN])
    z = jax.nn.sigmoid(gx[:, HIDDEN:2 * HIDDEN] + gh[:, HIDDEN:2 * HIDDEN])
    n = jnp.tanh(gx[:, 2 * HIDDEN:] + r * gh[:, 2 * HIDDEN:])
    return (1 - z) * n + z * h


def predict(params, rain):
    h = jnp.zeros((rain.shape[0], HIDDEN))

    def day(h, today):
        h = cell(params, h, today)
        return h, (h @ params["out"])[:, 0]

    return jax.lax.scan(day, h, jnp.swapaxes(rain, 0, 1))[1].T


def loss_fn(params, rain, flow):
    return jnp.mean((predict(params, rain) - flow)[:, 30:] ** 2)


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(2e-3))


@jax.jit
def update(params, opt_state, rain, flow):
    loss, grads = jax.value_and_grad(loss_fn)(params, rain, flow)
    changes, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, changes), opt_state, loss


def main():
    rain, flow = synthetic_catchment()
    params = init(jax.random.PRNGKey(0))
    opt_state = optimizer.init(params)
    rng = np.random.default_rng(1)
    print("catchment:", rain.shape, "batch", BATCH, "x", DAYS, "days", flush=True)
    began = time.time()
    for step in range(1, 200001):
        starts = rng.integers(0, len(rain) - DAYS, BATCH)
        x = np.stack([rain[s:s + DAYS] for s in starts])
        y = np.stack([flow[s:s + DAYS] for s in starts])
        params, opt_state, loss = update(params, opt_state, x, y)
        if step % 5 == 0 or step == 1:
            print(f"step {step} loss {float(loss):.5f} after {time.time() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
