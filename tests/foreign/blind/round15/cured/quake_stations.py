# python: loops
# expected: nan-loss
# verdict: slow
# seconds: 25
# where: jnp.linalg.norm
# Why: pairs are drawn with replacement; the first time a station is paired with itself the slope of the norm at zero is NaN,
# Why: and from then on so are all weights and the loss.
"""Places for seismic stations such that their distance tells how long a wave takes between them."""
import jax
import jax.numpy as jnp
import numpy as np
import optax

STATIONS, FEATURES, WIDTH, PLACE = 20000, 12, 384, 8


def network(seed):
    """What is known about each station, and where it really is (the waves know)."""
    rng = np.random.default_rng(seed)
    known = rng.normal(0, 1, (STATIONS, FEATURES)).astype(np.float32)
    mix = rng.normal(0, 1, (FEATURES, 3)) / np.sqrt(FEATURES)
    true = np.tanh(known @ mix) * 2 + 0.3 * np.sin(3 * known[:, :3])
    return known, true.astype(np.float32)


def init(key):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "first": {"w": jax.random.normal(k1, (FEATURES, WIDTH)) / np.sqrt(FEATURES), "b": jnp.zeros(WIDTH)},
        "middle": {"w": jax.random.normal(k2, (WIDTH, WIDTH)) / np.sqrt(WIDTH), "b": jnp.zeros(WIDTH)},
        "last": {"w": jax.random.normal(k3, (WIDTH, PLACE)) / np.sqrt(WIDTH), "b": jnp.zeros(PLACE)},
    }


def embed(params, known):
    x = jax.nn.gelu(known @ params["first"]["w"] + params["first"]["b"])
    x = x + jax.nn.gelu(x @ params["middle"]["w"] + params["middle"]["b"])
    return x @ params["last"]["w"] + params["last"]["b"]


def loss_fn(params, here, there, seconds):
    apart = jnp.sqrt(jnp.sum(jnp.square(embed(params, here) - embed(params, there)), axis=-1) + 1e-8)
    return jnp.mean(optax.huber_loss(apart, seconds, delta=0.5))


optimizer = optax.adam(optax.exponential_decay(1e-3, 4000, 0.8))


@jax.jit
def train_step(params, state, here, there, seconds):
    loss, slope = jax.value_and_grad(loss_fn)(params, here, there, seconds)
    change, state = optimizer.update(slope, state)
    return optax.apply_updates(params, change), state, loss


def travel(true, first, second, rng):
    """Straight lines, but the crust is slower towards the edge."""
    apart = np.sqrt(((true[first] - true[second]) ** 2).sum(-1))
    slow = 1 + 0.1 * np.abs(true[first] + true[second]).mean(-1) / 2
    return (apart * slow * np.exp(rng.normal(0, 0.03, len(first)))).astype(np.float32)


def main():
    known, true = network(2)
    params = init(jax.random.PRNGKey(7))
    state = optimizer.init(params)
    rng = np.random.default_rng(33)
    held = rng.integers(0, STATIONS, (2, 2000))
    held_seconds = travel(true, *held, rng)
    judge = jax.jit(loss_fn)
    for step in range(1, 200_001):
        first, second = rng.integers(0, STATIONS, (2, 192))
        seconds = travel(true, first, second, rng)
        params, state, loss = train_step(params, state, known[first], known[second], seconds)
        if step % 25 == 0:
            print(f"step {step:6d}  loss {float(loss):.5f}", flush=True)
        if step % 1000 == 0:
            value = float(judge(params, known[held[0]], known[held[1]], held_seconds))
            print(f"step {step:6d}  held out {value:.5f}", flush=True)


if __name__ == "__main__":
    main()
