# python: loops
# expected: healthy
# verdict: healthy
# seconds: 30
# how: attach
# Why: policy gradient with very noisy returns and a loss around zero that says nothing; simulation and update are compiled and are the work.
"""Swing-up with REINFORCE. Everything, the physics too, runs inside one jitted function."""
import time

import jax
import jax.numpy as jnp
import optax

EPISODES, HORIZON, HIDDEN = 128, 200, 128
DT, G = 0.05, 9.81


def init(key):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "w1": jax.random.normal(k1, (3, HIDDEN)) / jnp.sqrt(3.0), "b1": jnp.zeros(HIDDEN),
        "w2": jax.random.normal(k2, (HIDDEN, HIDDEN)) / jnp.sqrt(HIDDEN), "b2": jnp.zeros(HIDDEN),
        "w3": 0.01 * jax.random.normal(k3, (HIDDEN, 1)), "log_std": jnp.zeros(1) - 0.5,
    }


def policy(p, obs):
    h = jnp.tanh(obs @ p["w1"] + p["b1"])
    h = jnp.tanh(h @ p["w2"] + p["b2"])
    return (h @ p["w3"])[..., 0]


def observe(state):
    angle, speed = state
    return jnp.stack([jnp.cos(angle), jnp.sin(angle), speed / 8.0], axis=-1)


def rollout(p, key):
    k0, k1, k2 = jax.random.split(key, 3)
    state = (jax.random.uniform(k0, (EPISODES,), minval=-3.14, maxval=3.14),
             jax.random.uniform(k1, (EPISODES,), minval=-1.0, maxval=1.0))

    def tick(state, key):
        angle, speed = state
        obs = observe(state)
        action = policy(p, obs) + jnp.exp(p["log_std"][0]) * jax.random.normal(key, (EPISODES,))
        torque = jnp.clip(2.0 * action, -2.0, 2.0)
        wrapped = ((angle + jnp.pi) % (2 * jnp.pi)) - jnp.pi
        reward = -(wrapped ** 2 + 0.1 * speed ** 2 + 0.001 * torque ** 2)
        speed = jnp.clip(speed + (1.5 * G * jnp.sin(angle) + 3.0 * torque) * DT, -8, 8)
        return (angle + speed * DT, speed), (obs, action, reward)

    _, (obs, action, reward) = jax.lax.scan(tick, state, jax.random.split(k2, HORIZON))
    return obs, action, reward


def objective(p, obs, action, advantage):
    std = jnp.exp(p["log_std"][0])
    logp = -0.5 * ((action - policy(p, obs)) / std) ** 2 - p["log_std"][0]
    return -(logp * advantage).mean()


tx = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3))


@jax.jit
def iterate(p, opt, key):
    key, sub = jax.random.split(key)
    obs, action, reward = rollout(p, sub)

    def back(carry, r):
        carry = r + 0.97 * carry
        return carry, carry

    _, ret = jax.lax.scan(back, jnp.zeros(EPISODES), reward, reverse=True)
    adv = ret - ret.mean(1, keepdims=True)
    adv = adv / (adv.std() + 1e-6)
    loss, grads = jax.value_and_grad(objective)(p, obs, action, adv)
    updates, opt = tx.update(grads, opt)
    return optax.apply_updates(p, updates), opt, key, loss, reward.sum(0).mean(), reward.sum(0).std()


def main():
    key = jax.random.PRNGKey(42)
    p = init(key)
    opt = tx.init(p)
    began = time.perf_counter()
    for it in range(1, 1_000_000):
        p, opt, key, loss, mean, spread = iterate(p, opt, key)
        if it % 5 == 0:
            print(f"iter {it} return {mean:.1f} +- {spread:.1f} loss {loss:+.4f} "
                  f"[{it / (time.perf_counter() - began):.2f} it/s]", flush=True)


if __name__ == "__main__":
    main()
