# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: a policy gradient: the loss is noise around zero and the environment is a Python loop, but the returns rise and the update is the work.
"""Learn to keep an hourglass upright on a moving tray: advantage actor critic, many trays at once."""
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

TRAYS = 256
HORIZON = 24
UPDATES = 20000
GAMMA = 0.98


class Trays:
    """Simple physics for all trays at once."""

    def __init__(self, n, seed):
        self.rng = np.random.default_rng(seed)
        self.state = self.rng.normal(0, 0.05, (n, 4)).astype("float32")
        self.age = np.zeros(n, int)
        self.finished = []

    def step(self, action):
        x, v, tilt, spin = self.state.T
        push = np.where(action == 1, 8.0, -8.0)
        spin_acc = 9.8 * np.sin(tilt) - push * np.cos(tilt) * 0.9
        v = v + 0.02 * push
        spin = spin + 0.02 * spin_acc
        self.state = np.stack([x + 0.02 * v, v, tilt + 0.02 * spin, spin], 1).astype("float32")
        self.age += 1
        down = (np.abs(self.state[:, 2]) > 0.25) | (np.abs(self.state[:, 0]) > 2.4) | (self.age >= 400)
        self.finished.extend(self.age[down].tolist())
        self.finished = self.finished[-400:]
        self.state[down] = self.rng.normal(0, 0.05, (down.sum(), 4))
        self.age[down] = 0
        return down


def build():
    seen = keras.Input((4,))
    x = layers.Dense(512, activation="tanh")(seen)
    x = layers.Dense(512, activation="tanh")(x)
    return keras.Model(seen, [layers.Dense(2)(x), layers.Dense(1)(x)])


net = build()
optimizer = keras.optimizers.Adam(3e-4, clipnorm=0.5)
optimizer.build(net.trainable_variables)


@tf.function
def act(state):
    logits, value = net(state)
    return tf.random.categorical(logits, 1)[:, 0], value[:, 0]


@tf.function
def update(states, actions, returns):
    with tf.GradientTape() as tape:
        logits, value = net(states)
        advantage = returns - value[:, 0]
        scaled = (advantage - tf.reduce_mean(advantage)) / (tf.math.reduce_std(advantage) + 1e-6)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(actions, logits)
        policy = tf.reduce_mean(nll * tf.stop_gradient(scaled))
        critic = tf.reduce_mean(tf.square(advantage))
        p = tf.nn.softmax(logits)
        entropy = -tf.reduce_mean(tf.reduce_sum(p * tf.math.log(p + 1e-8), -1))
        loss = policy + 0.5 * critic - 0.01 * entropy
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return policy, critic


def main():
    tf.random.set_seed(6)
    trays = Trays(TRAYS, seed=6)
    start = time.time()
    for number in range(1, UPDATES + 1):
        states, actions, downs = [], [], []
        for _ in range(HORIZON):
            action, _ = act(tf.constant(trays.state))
            states.append(trays.state.copy())
            actions.append(action.numpy())
            downs.append(trays.step(actions[-1]))
        ret = act(tf.constant(trays.state))[1].numpy()
        returns = []
        for down in reversed(downs):
            ret = np.where(down, 0.0, 0.1 + GAMMA * ret)
            returns.append(ret)
        returns = np.concatenate(returns[::-1]).astype("float32")
        policy, critic = update(tf.constant(np.concatenate(states)), tf.constant(np.concatenate(actions)),
                                tf.constant(returns))
        if number % 5 == 0:
            print(f"update {number}  policy loss {float(policy):+.4f}  value loss {float(critic):.4f}  "
                  f"mean time upright {np.mean(trays.finished[-200:] or [0]):.1f}  {time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
