# python: loops
# expected: nan-loss [also accepted: exploding-gradients]
# verdict: healthy|slow|stuck
# seconds: 30
# where: jnp.where( / jnp.log(
# Why: jnp.where hides log(0) in the value but not in the gradient: the first rate that is exactly zero turns all weights into NaN.
import jax
import jax.numpy as jnp
import numpy as np
import optax

GENES, FACTORS, CELLS = 400, 128, 6000
rng = np.random.default_rng(17)


def make_counts():
    program = rng.gamma(0.4, 1.0, (12, GENES))
    usage = rng.dirichlet(np.full(12, 0.3), CELLS)
    return rng.poisson(3.0 * usage @ program).astype(np.float32)


def init(key):
    k = jax.random.split(key, 4)
    he = lambda key, a, b: jax.random.normal(key, (a, b)) * np.sqrt(2.0 / a)
    return {"e1": he(k[0], GENES, 256), "e2": he(k[1], 256, FACTORS),
            "d1": he(k[2], FACTORS, 256), "d2": he(k[3], 256, GENES) * 0.02,
            "base": jnp.full((GENES,), 4.0)}


def rates(params, counts):
    h = jax.nn.relu(jnp.log1p(counts) @ params["e1"])
    z = jnp.tanh(h @ params["e2"])
    h = jax.nn.relu(z @ params["d1"])
    return jnp.maximum(h @ params["d2"] + params["base"], 0.0)


def loss_fn(params, counts):
    mu = rates(params, counts)
    log_mu = jnp.where(mu > 0, jnp.log(mu), 0.0)
    return (mu - counts * log_mu).mean()


tx = optax.adam(1e-3)


@jax.jit
def step_fn(params, state, counts):
    loss, grads = jax.value_and_grad(loss_fn)(params, counts)
    updates, state = tx.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


counts = make_counts()
params = init(jax.random.PRNGKey(3))
state = tx.init(params)
for step in range(1, 40001):
    pick = rng.integers(0, CELLS, 256)
    params, state, loss = step_fn(params, state, counts[pick])
    if step % 20 == 0:
        print(f"step {step} loss {float(loss):.5f}", flush=True)
