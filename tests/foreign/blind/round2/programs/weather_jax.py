# python: loops
# expected: healthy
# verdict: healthy
# seconds: 45
# Why: looks suspicious because nothing happens for many seconds while XLA compiles an unrolled model; it compiles once, then the steps are even.
import jax
import jax.numpy as jnp
import numpy as np
import optax

STATIONS, HIDDEN, ROLL, BATCH = 24, 64, 28, 32
rng = np.random.default_rng(55)


def make_weather(hours=12000):
    mix = np.eye(STATIONS) * 0.9 + 0.05 * rng.normal(size=(STATIONS, STATIONS)) / np.sqrt(STATIONS)
    x = np.zeros((hours, STATIONS), np.float32)
    for t in range(1, hours):
        x[t] = np.tanh(mix @ x[t - 1]) + 0.1 * np.sin(2 * np.pi * t / 24) + 0.1 * rng.normal(size=STATIONS)
    return x


def dense(key, i, o):
    return {"w": jax.random.normal(key, (i, o)) / np.sqrt(i), "b": jnp.zeros(o)}


def init(key):
    k = jax.random.split(key, 4)
    return {"inp": dense(k[0], STATIONS, HIDDEN), "mid": dense(k[1], HIDDEN, HIDDEN),
            "gate": dense(k[2], HIDDEN, HIDDEN), "out": dense(k[3], HIDDEN, STATIONS)}


def layer(p, x):
    return x @ p["w"] + p["b"]


def forward(params, x):
    h = jnp.tanh(layer(params["inp"], x))
    for _ in range(2):
        g = jax.nn.sigmoid(layer(params["gate"], h))
        h = g * h + (1 - g) * jax.nn.gelu(layer(params["mid"], h))
    return x + layer(params["out"], h)


def rollout_loss(params, window):
    x = window[:, 0]
    total = 0.0
    for t in range(1, ROLL + 1):
        x = forward(params, x)
        total = total + jnp.mean((x - window[:, t]) ** 2)
    return total / ROLL


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))


@jax.jit
def update(params, state, window):
    loss, grads = jax.value_and_grad(rollout_loss)(params, window)
    updates, state = optimizer.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


def main():
    weather = make_weather()
    params = init(jax.random.PRNGKey(5))
    state = optimizer.init(params)
    print("stations", STATIONS, "hours", len(weather), flush=True)
    for step in range(1, 200001):
        at = rng.integers(0, len(weather) - ROLL - 1, BATCH)
        params, state, loss = update(params, state, weather[at[:, None] + np.arange(ROLL + 1)])
        if step % 100 == 0:
            print(f"step {step} rollout mse {float(loss):.5f}", flush=True)


if __name__ == "__main__":
    main()
