# python: loops
# expected: nan-loss
# verdict: healthy|slow|stuck
# seconds: 30
# where: jnp.linalg.norm
# Why: the distance of each body to itself is zero and the gradient of the norm at zero is not a number, even though the diagonal is masked afterwards; the first update makes all weights NaN.
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

BODIES, WIDTH, BATCH = 6, 64, 128


def make_systems(n=4000):
    rng = np.random.default_rng(71)
    place = rng.normal(size=(n, BODIES, 3)).astype("float32")
    mass = rng.uniform(0.5, 2.0, (n, BODIES)).astype("float32")
    gap = place[:, :, None] - place[:, None]
    r = np.sqrt((gap ** 2).sum(-1) + 0.3)
    pull = mass[:, :, None] * mass[:, None] / r
    pull[:, np.arange(BODIES), np.arange(BODIES)] = 0
    return place, mass, (-0.5 * pull.sum(axis=(1, 2))).astype("float32")


def init(key):
    a, b, c = jax.random.split(key, 3)
    return {"offset": jnp.zeros((3,)), "stretch": jnp.ones((3,)),
            "w1": jax.random.normal(a, (3, WIDTH)) * 0.5, "b1": jnp.zeros(WIDTH),
            "w2": jax.random.normal(b, (WIDTH, WIDTH)) / 8.0, "b2": jnp.zeros(WIDTH),
            "w3": jax.random.normal(c, (WIDTH, 1)) / 8.0}


def energy(params, place, mass):
    place = place * params["stretch"] + params["offset"]
    gap = place[:, :, None] - place[:, None]
    distance = jnp.linalg.norm(gap, axis=-1)
    pairs = jnp.stack([distance, jnp.broadcast_to(mass[:, :, None], distance.shape),
                       jnp.broadcast_to(mass[:, None], distance.shape)], axis=-1)
    h = jnp.tanh(pairs @ params["w1"] + params["b1"])
    h = jnp.tanh(h @ params["w2"] + params["b2"])
    each = (h @ params["w3"])[..., 0] * (1 - jnp.eye(BODIES))
    return each.sum(axis=(1, 2))


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))


@jax.jit
def update(params, state, place, mass, target):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((energy(p, place, mass) - target) ** 2))(params)
    changes, state = optimizer.update(grads, state)
    return optax.apply_updates(params, changes), state, loss


def main():
    place, mass, target = make_systems()
    params = init(jax.random.PRNGKey(3))
    state = optimizer.init(params)
    rng, started = np.random.default_rng(5), time.time()
    for step in range(1, 50001):
        rows = rng.integers(0, len(place), BATCH)
        params, state, loss = update(params, state, place[rows], mass[rows], target[rows])
        if step % 50 == 0:
            print(f"step {step}  loss {float(loss):.5f}  {time.time() - started:.1f} s", flush=True)


if __name__ == "__main__":
    main()
