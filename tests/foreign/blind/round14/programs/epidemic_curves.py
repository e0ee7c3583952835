# python: tensorflow
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: two other processes simulate outbreaks and mostly sleep in a full queue; the training of the network is what takes the time.
"""Estimate reproduction number and recovery time of an epidemic from case counts: a network trained on simulated outbreaks."""
import multiprocessing
import time

import numpy as np

DAYS = 96
REGIONS = 8
BATCH = 48
SIMULATORS = 2


def outbreaks(rng, count):
    """Stochastic SEIR in several regions, chain binomial; all outbreaks of a batch at once."""
    reproduction, recovery = rng.uniform(1.2, 4.0, (count, 1)), rng.uniform(3, 10, (count, 1))
    people = rng.integers(20000, 80000, (count, REGIONS))
    exposed = rng.integers(5, 60, (count, REGIONS))
    infected, susceptible = np.zeros_like(exposed), people - exposed
    reported = np.empty((count, DAYS, REGIONS), "float32")
    for day in range(DAYS):
        force = 1 - np.exp(-reproduction / recovery * infected / people)
        caught = rng.binomial(susceptible, force)
        sick = rng.binomial(exposed, 1 - np.exp(-1 / 3.0))
        well = rng.binomial(infected, 1 - np.exp(-1 / recovery))
        susceptible, exposed, infected = susceptible - caught, exposed + caught - sick, infected + sick - well
        reported[:, day] = rng.poisson(0.3 * sick)
    target = np.concatenate([(reproduction - 2.6) / 0.8, (recovery - 6.5) / 2.0], 1).astype("float32")
    return np.log1p(reported), target


def simulate(seed, queue):
    rng = np.random.default_rng(seed)
    while True:
        queue.put(outbreaks(rng, BATCH))


def build():
    from keras import Input, Model, layers

    inputs = Input((DAYS, REGIONS))
    x = layers.Dense(96)(inputs)
    x = x + layers.Embedding(DAYS, 96)(np.arange(DAYS))
    for _ in range(3):
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(4, 24)(y, y)
        y = layers.Dense(288, activation="gelu")(layers.LayerNormalization()(x))
        x = x + layers.Dense(96)(y)
    x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return Model(inputs, layers.Dense(4)(x))


def main():
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(9)
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue(maxsize=12)
    for seed in range(SIMULATORS):
        spawn.Process(target=simulate, args=(seed, queue), daemon=True).start()
    network = build()
    optimizer = keras.optimizers.Adam(5e-4, global_clipnorm=1.0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            mean, log_scale = tf.split(network(x, training=True), 2, axis=-1)
            log_scale = tf.clip_by_value(log_scale, -5.0, 3.0)
            loss = tf.reduce_mean(log_scale + 0.5 * tf.square((y - mean) / tf.exp(log_scale)))
        optimizer.apply_gradients(zip(tape.gradient(loss, network.trainable_variables), network.trainable_variables))
        return loss, tf.reduce_mean(tf.abs(y - mean), axis=0)

    began = time.perf_counter()
    for number in range(1, 50001):
        x, y = queue.get()
        loss, off = step(tf.constant(x), tf.constant(y))
        if number % 5 == 0:
            print(f"[{time.perf_counter() - began:6.1f} s] step {number} nll {float(loss):+.3f} "
                  f"R off by {0.8 * off[0]:.2f}, recovery by {2 * off[1]:.2f} days", flush=True)


if __name__ == "__main__":
    main()
