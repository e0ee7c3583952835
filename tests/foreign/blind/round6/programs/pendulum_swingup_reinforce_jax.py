# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: policy gradients: the surrogate loss has no direction and the returns jump; simulation and network run in one compiled function.
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

ENVS = 256
HORIZON = 150
WIDTH = 128
DT = 0.05


def dynamics(state, torque):
    angle, speed = state[..., 0], state[..., 1]
    torque = jnp.clip(torque, -2.0, 2.0)
    cost = (jnp.mod(angle + jnp.pi, 2 * jnp.pi) - jnp.pi) ** 2 + 0.1 * speed ** 2 + 0.001 * torque ** 2
    speed = jnp.clip(speed + (15.0 * jnp.sin(angle) + 3.0 * torque) * DT, -8, 8)
    return jnp.stack([angle + speed * DT, speed], -1), -cost


def features(state):
    return jnp.stack([jnp.cos(state[..., 0]), jnp.sin(state[..., 0]), state[..., 1] / 8], -1)


def policy(p, state):
    h = jnp.tanh(features(state) @ p["w1"] + p["b1"])
    h = jnp.tanh(h @ p["w2"] + p["b2"])
    out = h @ p["w3"]
    return out[..., 0], out[..., 1]


def rollout(p, key):
    k0, k1 = jax.random.split(key)
    start = jax.random.uniform(k0, (ENVS, 2), minval=jnp.array([-np.pi, -1.0]), maxval=jnp.array([np.pi, 1.0]))

    def tick(state, k):
        mean, _ = policy(p, state)
        torque = mean + jnp.exp(p["log_std"]) * jax.random.normal(k, mean.shape)
        nxt, reward = dynamics(state, torque)
        return nxt, (state, torque, reward)

    _, traj = jax.lax.scan(tick, start, jax.random.split(k1, HORIZON))
    return traj


def surrogate(p, states, torques, rewards):
    def back(g, r):
        g = r + 0.97 * g
        return g, g
    _, returns = jax.lax.scan(back, jnp.zeros(ENVS), rewards, reverse=True)
    mean, value = policy(p, states)
    std = jnp.exp(p["log_std"])
    logp = -0.5 * ((torques - mean) / std) ** 2 - p["log_std"]
    scaled = returns / 50.0
    adv = jax.lax.stop_gradient(scaled - value)
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    return -(logp * adv).mean() + 0.5 * ((value - scaled) ** 2).mean()


@functools.partial(jax.jit, static_argnames="tx")
def iteration(p, opt_state, key, tx):
    states, torques, rewards = rollout(p, key)
    loss, grads = jax.value_and_grad(surrogate)(p, states, torques, rewards)
    delta, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(p, delta), opt_state, loss, rewards.sum(0).mean()


key = jax.random.PRNGKey(3)
ks = jax.random.split(key, 4)
p = {
    "w1": jax.random.normal(ks[0], (3, WIDTH)) / 3 ** 0.5, "b1": jnp.zeros(WIDTH),
    "w2": jax.random.normal(ks[1], (WIDTH, WIDTH)) / WIDTH ** 0.5, "b2": jnp.zeros(WIDTH),
    "w3": jax.random.normal(ks[2], (WIDTH, 2)) * 0.01, "log_std": jnp.array(0.0),
}
tx = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(3e-3))
opt_state = tx.init(p)
for it in range(1, 1_000_001):
    key, sub = jax.random.split(key)
    p, opt_state, loss, ret = iteration(p, opt_state, sub, tx)
    if it % 10 == 0:
        print(f"iteration {it}, loss {float(loss):+.4f}, mean return {float(ret):.1f}", flush=True)
