# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: policy gradients with returns that jump from one iteration to the next; flights and gradients run compiled, nothing waits.
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

FLIGHTS = 512
HORIZON = 120
DT = 0.05


class Craft(NamedTuple):
    height: jax.Array
    speed: jax.Array
    drift: jax.Array
    fuel: jax.Array


def launch(key):
    a, b, c = jax.random.split(key, 3)
    return Craft(
        height=jax.random.uniform(a, (FLIGHTS,), minval=3.0, maxval=8.0),
        speed=jax.random.normal(b, (FLIGHTS,)) * 0.5 - 0.5,
        drift=jax.random.normal(c, (FLIGHTS,)) * 0.7,
        fuel=jnp.ones(FLIGHTS) * 4.0,
    )


def observe(craft):
    return jnp.stack([craft.height / 5, craft.speed, craft.drift, craft.fuel / 4], axis=1)


def fly(craft, action, key):
    burn = (action == 1) * (craft.fuel > 0)
    push = (action == 2) * 1.0 - (action == 3) * 1.0
    gust = jax.random.normal(key, (FLIGHTS,)) * 0.1
    speed = craft.speed + DT * (-1.6 + 4.0 * burn)
    drift = craft.drift + DT * (push + gust)
    down = craft.height <= 0
    height = jnp.where(down, craft.height, craft.height + DT * speed)
    landing = (height <= 0) & ~down
    reward = landing * (10.0 - 6.0 * jnp.abs(speed) - 4.0 * jnp.abs(drift)) - 0.01 * burn
    return Craft(height, jnp.where(down, 0.0, speed), drift, craft.fuel - DT * burn), reward


def policy(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def rollout(params, key):
    def tick(craft, k):
        k1, k2 = jax.random.split(k)
        x = observe(craft)
        action = jax.random.categorical(k1, policy(params, x))
        craft, reward = fly(craft, action, k2)
        return craft, (x, action, reward)

    first, rest = jax.random.split(key)
    return jax.lax.scan(tick, launch(first), jax.random.split(rest, HORIZON))[1]


def objective(params, x, action, gain):
    logp = jax.nn.log_softmax(policy(params, x))
    chosen = jnp.take_along_axis(logp, action[..., None], axis=-1)[..., 0]
    entropy = -jnp.sum(jnp.exp(logp) * logp, axis=-1).mean()
    return -jnp.mean(chosen * gain) - 0.01 * entropy


optimizer = optax.adam(3e-3)


@jax.jit
def iterate(params, state, key):
    x, action, reward = rollout(params, key)
    togo = jnp.cumsum(reward[::-1], axis=0)[::-1]
    gain = (togo - togo.mean(axis=1, keepdims=True)) / (togo.std() + 1e-3)
    loss, grads = jax.value_and_grad(objective)(params, x, action, gain)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, loss, reward.sum(axis=0).mean()


key = jax.random.PRNGKey(4)
sizes = [4, 96, 96, 4]
params = []
for a, b in zip(sizes[:-1], sizes[1:]):
    key, sub = jax.random.split(key)
    params.append((jax.random.normal(sub, (a, b)) / jnp.sqrt(a), jnp.zeros(b)))
state = optimizer.init(params)
began = time.time()
for n in range(1, 100_001):
    key, sub = jax.random.split(key)
    params, state, loss, score = iterate(params, state, sub)
    if n % 5 == 0:
        print(f"iteration {n:5d} | loss {float(loss):+.4f} | return {float(score):+7.3f} | {time.time() - began:6.1f}s", flush=True)
