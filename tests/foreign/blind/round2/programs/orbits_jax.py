# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# how: attach
# Why: looks suspicious because Python sits in one call for about a second at a time; eight hundred updates run inside one lax.scan, and only then a line is printed.
import jax
import jax.numpy as jnp
import numpy as np
import optax

HIDDEN, BATCH, INNER = 128, 256, 800


def init(key, sizes=(4, HIDDEN, HIDDEN, 2)):
    params = []
    for i, o in zip(sizes[:-1], sizes[1:]):
        key, k = jax.random.split(key)
        params.append((jax.random.normal(k, (i, o)) * np.sqrt(2 / i), jnp.zeros(o)))
    return params


def field(params, s):
    for w, b in params[:-1]:
        s = jax.nn.softplus(s @ w + b)
    w, b = params[-1]
    return s @ w + b


def acceleration(pos):
    r = jnp.linalg.norm(pos, axis=-1, keepdims=True)
    return -pos / jnp.maximum(r, 0.3) ** 3


def draw(key):
    k1, k2, k3 = jax.random.split(key, 3)
    angle = jax.random.uniform(k1, (BATCH, 1), maxval=2 * jnp.pi)
    radius = jax.random.uniform(k2, (BATCH, 1), minval=0.5, maxval=2.0)
    pos = radius * jnp.concatenate([jnp.cos(angle), jnp.sin(angle)], 1)
    vel = jax.random.normal(k3, (BATCH, 2)) * 0.3
    return jnp.concatenate([pos, vel], 1), acceleration(pos)


optimizer = optax.adam(optax.cosine_decay_schedule(2e-3, 30000, 0.05))


def one(carry, key):
    params, state = carry
    s, a = draw(key)
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((field(p, s) - a) ** 2))(params)
    updates, state = optimizer.update(grads, state)
    return (optax.apply_updates(params, updates), state), loss


@jax.jit
def many(params, state, key):
    (params, state), losses = jax.lax.scan(one, (params, state), jax.random.split(key, INNER))
    return params, state, losses.mean()


def main():
    key = jax.random.PRNGKey(66)
    params = init(key)
    state = optimizer.init(params)
    for block in range(1, 401):
        key, k = jax.random.split(key)
        params, state, loss = many(params, state, k)
        print(f"update {block * INNER} loss {float(loss):.6f}", flush=True)


if __name__ == "__main__":
    main()
