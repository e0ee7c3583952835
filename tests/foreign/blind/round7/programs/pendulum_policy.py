# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 25
# how: attach
# Why: Policy gradients: the return goes up and down and the surrogate loss means nothing; simulator and update are one jitted scan.
from typing import NamedTuple
import time

import jax
import jax.numpy as jnp
import optax

ENVS, HORIZON, DT = 256, 100, 0.05


class Rollout(NamedTuple):
    obs: jax.Array
    action: jax.Array
    reward: jax.Array


def observe(theta, omega):
    return jnp.stack([jnp.cos(theta), jnp.sin(theta), omega / 8.0], -1)


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    layers = [(jax.random.normal(k, (a, b)) / a ** 0.5, jnp.zeros(b)) for k, a, b in zip(keys, sizes, sizes[1:])]
    return {"layers": layers, "log_std": jnp.array(-0.5)}


def policy(params, obs):
    x = obs
    for w, b in params["layers"][:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params["layers"][-1]
    return (x @ w + b)[..., 0]


def simulate(params, key):
    k1, k2, k3 = jax.random.split(key, 3)
    theta = jax.random.uniform(k1, (ENVS,), minval=-jnp.pi, maxval=jnp.pi)
    omega = jax.random.uniform(k2, (ENVS,), minval=-1.0, maxval=1.0)

    def tick(state, k):
        theta, omega = state
        obs = observe(theta, omega)
        action = policy(params, obs) + jnp.exp(params["log_std"]) * jax.random.normal(k, (ENVS,))
        torque = 2.0 * jnp.tanh(action)
        angle = (theta + jnp.pi) % (2 * jnp.pi) - jnp.pi
        reward = -(angle ** 2 + 0.1 * omega ** 2 + 0.001 * torque ** 2)
        omega = jnp.clip(omega + (15.0 * jnp.sin(theta) + 3.0 * torque) * DT, -8.0, 8.0)
        return (theta + omega * DT, omega), Rollout(obs, action, reward)

    _, rollout = jax.lax.scan(tick, (theta, omega), jax.random.split(k3, HORIZON))
    return rollout


def surrogate(params, rollout):
    def back(acc, r):
        acc = r + 0.97 * acc
        return acc, acc

    _, togo = jax.lax.scan(back, jnp.zeros(ENVS), rollout.reward, reverse=True)
    advantage = (togo - togo.mean(1, keepdims=True)) / (togo.std() + 1e-6)
    std = jnp.exp(params["log_std"])
    logp = -0.5 * ((rollout.action - policy(params, rollout.obs)) / std) ** 2 - params["log_std"]
    return -(logp * advantage).mean()


tx = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3))


@jax.jit
def iterate(params, opt_state, key):
    rollout = simulate(params, key)
    loss, grads = jax.value_and_grad(surrogate)(params, rollout)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss, rollout.reward.sum(0).mean()


key = jax.random.PRNGKey(5)
params = init(key, [3, 160, 160, 1])
opt_state = tx.init(params)
start, step = time.time(), 0
while True:
    key, sub = jax.random.split(key)
    params, opt_state, loss, ret = iterate(params, opt_state, sub)
    step += 1
    if step % 10 == 0:
        print(f"iter {step:5d} | return {float(ret):9.2f} | surrogate {float(loss):+.4f} | {time.time() - start:.0f}s", flush=True)
