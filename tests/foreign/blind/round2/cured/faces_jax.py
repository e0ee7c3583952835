# python: loops
# expected: nan-loss
# verdict: stuck|slow
# seconds: 35
# where: jnp.sqrt / pair_distance
# Why: the distance of a pair is a bare square root; sooner or later a picture is paired with itself, the derivative at 0 is infinite and everything is NaN from then on. A standard trap of metric learning.
import jax
import jax.numpy as jnp
import numpy as np
import optax

PEOPLE, SHOTS, SIDE, DIM, BATCH, MARGIN = 40, 1000, 24, 32, 16, 1.0
rng = np.random.default_rng(44)


def make_faces():
    base = rng.standard_normal((PEOPLE, 1, SIDE, SIDE), dtype=np.float32)
    faces = base + 0.6 * rng.standard_normal((PEOPLE, SHOTS, SIDE, SIDE), dtype=np.float32)
    return faces[..., None]


def sample(faces):
    person = rng.integers(0, PEOPLE, BATCH)
    same = rng.random(BATCH) < 0.5
    other = np.where(same, person, rng.integers(0, PEOPLE, BATCH))
    a = faces[person, rng.integers(0, SHOTS, BATCH)]
    b = faces[other, rng.integers(0, SHOTS, BATCH)]
    return a, b, (person == other).astype(np.float32)


def init(key):
    k = jax.random.split(key, 3)
    return {"c1": jax.random.normal(k[0], (5, 5, 1, 12)) * 0.2,
            "c2": jax.random.normal(k[1], (3, 3, 12, 24)) * 0.1,
            "w": jax.random.normal(k[2], (24 * 36, DIM)) * 0.03}


def conv(x, w, stride):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def embed(params, x):
    h = jax.nn.relu(conv(x, params["c1"], 2))
    h = jax.nn.relu(conv(h, params["c2"], 2))
    return h.reshape(h.shape[0], -1) @ params["w"]


def pair_distance(a, b):
    return jnp.sqrt(jnp.sum((a - b) ** 2, axis=1) + 1e-8)


def contrastive(params, a, b, same):
    d = pair_distance(embed(params, a), embed(params, b))
    pull = same * d ** 2
    push = (1 - same) * jnp.maximum(MARGIN - d, 0) ** 2
    return jnp.mean(pull + push)


optimizer = optax.adam(1e-3)


@jax.jit
def update(params, state, a, b, same):
    loss, grads = jax.value_and_grad(contrastive)(params, a, b, same)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


def main():
    faces = make_faces()
    params = init(jax.random.PRNGKey(4))
    state = optimizer.init(params)
    for step in range(1, 60001):
        params, state, loss = update(params, state, *sample(faces))
        if step % 10 == 0:
            print(f"step {step} loss {float(loss):.4f}", flush=True)


if __name__ == "__main__":
    main()
