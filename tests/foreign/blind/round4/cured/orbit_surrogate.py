import jax
import jax.numpy as jnp
import numpy as np
import optax

LEARNING_RATE = 1e-3
BATCH = 512
WIDTH = 256


def trajectories(count=20000, seed=2):
    """State of a damped oscillator after one time unit."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (count, 6)).astype(np.float32)
    position, speed = x[:, 0].copy(), x[:, 1].copy()
    stiffness, damping, push, beat = 4 + 2 * x[:, 2], 0.5 + 0.3 * x[:, 3], x[:, 4], 3 + x[:, 5]
    for k in range(50):
        force = -stiffness * position - damping * speed + push * np.cos(beat * k / 50)
        speed = speed + force / 50
        position = position + speed / 50
    return x, np.stack([position, speed], axis=1).astype(np.float32)


def init(key):
    sizes = (6, WIDTH, WIDTH, WIDTH, 2)
    params = []
    for n, m in zip(sizes, sizes[1:]):
        key, sub = jax.random.split(key)
        params.append({"w": jax.random.normal(sub, (n, m)) / np.sqrt(n), "b": jnp.zeros(m)})
    return params


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.silu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def loss_fn(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


optimizer = optax.adam(LEARNING_RATE)


@jax.jit
def update(params, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    changes, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, changes), state, loss


def main():
    x, y = trajectories()
    rng = np.random.default_rng(0)
    params = init(jax.random.PRNGKey(0))
    state = optimizer.init(params)
    for step in range(1000000):
        rows = rng.integers(0, len(x), BATCH)
        params, state, loss = update(params, state, x[rows], y[rows])
        if step % 50 == 0:
            print(f"step {step} loss {float(loss):.5f}", flush=True)


main()
