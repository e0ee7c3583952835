# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: PPO with a Python loop over the simulator and a noisy loss that hovers about zero; nearly all its time are the updates of the networks.
"""PPO for a blimp that docks at a mast in gusty wind: 32 simulated blimps at once, Gaussian thrust."""
import math
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

BLIMPS, HORIZON, EPOCHS, MINIBATCH = 32, 64, 6, 256
GAMMA, LAMBDA, CLIP = 0.97, 0.95, 0.2


class Harbour:
    """All blimps at once, as arrays: position, velocity, wind."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.state = np.zeros((BLIMPS, 6), "float32")
        self.age = self.rng.integers(0, 100, BLIMPS)
        self.reset(np.ones(BLIMPS, bool))

    def reset(self, which):
        number = int(which.sum())
        self.state[which] = 0
        self.state[which, :2] = self.rng.uniform(-2, 2, (number, 2))
        self.state[which, 4:] = self.rng.normal(0, 0.3, (number, 2))
        self.age[which] = 0

    def step(self, thrust):
        s = self.state
        s[:, 4:] += 0.1 * (-0.2 * s[:, 4:]) + self.rng.normal(0, 0.05, (BLIMPS, 2))
        s[:, 2:4] += 0.1 * (np.clip(thrust, -1, 1) * 2 + s[:, 4:] - 0.5 * s[:, 2:4])
        s[:, :2] += 0.1 * s[:, 2:4]
        self.age += 1
        distance = np.linalg.norm(s[:, :2], axis=1)
        reward = -0.3 * distance - 0.02 * np.square(thrust).sum(1) + (distance < 0.2)
        lost, late = distance > 5, self.age >= 120
        reward -= 5 * lost
        final = s.copy()
        self.reset(lost | late)
        return s.copy(), final, 0.1 * reward.astype("float32"), lost | late, late & ~lost


def tower(outputs):
    return keras.Sequential([keras.Input((6,)), layers.Dense(384, activation="tanh"), layers.Dense(384, activation="tanh"),
                             layers.Dense(256, activation="tanh"), layers.Dense(outputs)])


keras.utils.set_random_seed(5)
actor, critic = tower(2), tower(1)
log_std = tf.Variable([-0.5, -0.5])
weights = [*actor.trainable_variables, *critic.trainable_variables, log_std]
optimizer = keras.optimizers.Adam(3e-4, global_clipnorm=0.5)


def log_likelihood(mean, action):
    z = (action - mean) / tf.exp(log_std)
    return tf.reduce_sum(-0.5 * z**2 - log_std - 0.5 * math.log(2 * math.pi), axis=-1)


@tf.function
def act(state):
    mean = actor(state)
    action = mean + tf.exp(log_std) * tf.random.normal(tf.shape(mean))
    return action, log_likelihood(mean, action), critic(state)[:, 0]


@tf.function
def update(state, action, old, advantage, target):
    with tf.GradientTape() as tape:
        ratio = tf.exp(log_likelihood(actor(state), action) - old)
        policy = -tf.reduce_mean(tf.minimum(ratio * advantage, tf.clip_by_value(ratio, 1 - CLIP, 1 + CLIP) * advantage))
        value = tf.reduce_mean(tf.square(critic(state)[:, 0] - target))
        loss = policy + 0.5 * value - 0.003 * tf.reduce_sum(log_std)
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


harbour, rng, began = Harbour(), np.random.default_rng(1), time.perf_counter()
state = harbour.state.copy()
for iteration in range(1, 5001):
    record = []
    for _ in range(HORIZON):
        action, likelihood, value = (tensor.numpy() for tensor in act(state))
        following, final, reward, done, late = harbour.step(action)
        if late.any():  # the time was up, the flight was not: the value of its last state stands for the rest
            reward += GAMMA * late * act(final)[2].numpy()
        record.append((state, action, likelihood, value, reward, done))
        state = following
    states, actions, likelihoods, values, rewards, dones = map(np.stack, zip(*record))
    advantages, running, later = np.zeros_like(rewards), 0.0, act(state)[2].numpy()
    for t in reversed(range(HORIZON)):
        error = rewards[t] + GAMMA * later * ~dones[t] - values[t]
        running = error + GAMMA * LAMBDA * ~dones[t] * running
        advantages[t], later = running, values[t]
    targets = advantages + values
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
    flat = [a.reshape(-1, *a.shape[2:]) for a in (states, actions, likelihoods, advantages, targets)]
    losses = []
    for _ in range(EPOCHS):
        for chosen in np.split(rng.permutation(BLIMPS * HORIZON), BLIMPS * HORIZON // MINIBATCH):
            losses.append(update(*(tf.constant(a[chosen]) for a in flat)))
    print(f"iteration {iteration} mean return {targets.mean():+.3f} loss {float(tf.reduce_mean(losses)):+.4f} "
          f"std {np.exp(log_std.numpy()).round(2)} {time.perf_counter() - began:.0f} s", flush=True)
