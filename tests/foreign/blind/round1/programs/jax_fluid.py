# python: loops
# expected: healthy
# verdict: healthy
# seconds: 45
# Why: the solver is unrolled inside the jitted step, which takes many seconds to compile once; after that the steps run evenly with the same shapes.
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

GRID, UNROLL, BATCH = 32, 20, 16


def init(key, width=8):
    a, b = jax.random.split(key)
    return {"k1": jax.random.normal(a, (3, 3, 2, width)) * 0.1, "k2": jax.random.normal(b, (3, 3, width, 2)) * 0.1,
            "viscosity": jnp.full((), 0.05, jnp.float32)}


def conv(x, kernel):
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="wrap")
    return jax.lax.conv_general_dilated(padded, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def laplace(u):
    return (jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) + jnp.roll(u, 1, 2) + jnp.roll(u, -1, 2) - 4 * u)


def advance(params, u, dt=0.1):
    ux = (jnp.roll(u, -1, 1) - jnp.roll(u, 1, 1)) / 2
    uy = (jnp.roll(u, -1, 2) - jnp.roll(u, 1, 2)) / 2
    physics = -u[..., :1] * ux - u[..., 1:] * uy + params["viscosity"] * laplace(u)
    closure = conv(jnp.tanh(conv(u, params["k1"])), params["k2"])
    return u + dt * (physics + 0.1 * closure)


def rollout_loss(params, start, end):
    u = start
    for _ in range(UNROLL):
        u = advance(params, u)
    return jnp.mean((u - end) ** 2)


optimizer = optax.adam(1e-3)


@jax.jit
def update(params, state, start, end):
    loss, grads = jax.value_and_grad(rollout_loss)(params, start, end)
    changes, state = optimizer.update(grads, state)
    return optax.apply_updates(params, changes), state, loss


def make_flows(rng):
    yy, xx = np.mgrid[0:2 * np.pi:GRID * 1j, 0:2 * np.pi:GRID * 1j]
    phase = rng.uniform(0, 6, (BATCH, 4, 1, 1))
    u = np.stack([np.sin(xx + phase[:, 0]) * np.cos(yy + phase[:, 1]), np.cos(xx + phase[:, 2]) * np.sin(yy + phase[:, 3])], axis=-1)
    return (0.5 * u).astype("float32"), (0.35 * u).astype("float32")


def main():
    params = init(jax.random.PRNGKey(1))
    state = optimizer.init(params)
    rng, started = np.random.default_rng(2), time.time()
    for step in range(1, 3001):
        params, state, loss = update(params, state, *make_flows(rng))
        if step % 5 == 1:
            print(f"step {step}  loss {float(loss):.5f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
