# python: loops
# expected: healthy
# verdict: healthy
# seconds: 45
# Why: the program is silent for some seconds at a time and Python does nothing: a whole block of steps is one lax.scan inside one jitted call. The
# first block also compiles.
import time
import jax
import jax.numpy as jnp
import numpy as np
import optax

WIDTH, DEPTH, BLOCK = 256, 6, 150
rng = np.random.default_rng(1)
coords = jnp.asarray(rng.uniform(-1, 1, (40000, 3)), jnp.float32)
values = jnp.sin(3 * coords[:, 0]) * jnp.cos(4 * coords[:, 1]) + coords[:, 2] ** 2


def init(key):
    sizes = [3] + [WIDTH] * DEPTH + [1]
    params = []
    for a, b in zip(sizes, sizes[1:]):
        key, sub = jax.random.split(key)
        params.append((jax.random.normal(sub, (a, b)) * np.sqrt(2.0 / a), jnp.zeros(b)))
    return params


def predict(params, x):
    for w, b in params[:-1]:
        x = jax.nn.gelu(x @ w + b)
    w, b = params[-1]
    return (x @ w + b)[:, 0]


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


tx = optax.adam(5e-4)


def one_step(carry, key):
    params, state = carry
    pick = jax.random.randint(key, (512,), 0, coords.shape[0])
    loss, grads = jax.value_and_grad(loss_fn)(params, coords[pick], values[pick])
    updates, state = tx.update(grads, state)
    return (optax.apply_updates(params, updates), state), loss


@jax.jit
def run_block(params, state, key):
    (params, state), losses = jax.lax.scan(one_step, (params, state), jax.random.split(key, BLOCK))
    return params, state, losses


params = init(jax.random.PRNGKey(0))
state = tx.init(params)
key = jax.random.PRNGKey(7)
started = time.time()
for block in range(1, 301):
    key, sub = jax.random.split(key)
    params, state, losses = run_block(params, state, sub)
    mean = float(losses.mean())
    print(f"step {block * BLOCK} loss {mean:.5f} {time.time() - started:.0f} s", flush=True)
