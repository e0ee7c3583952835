# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: the twin without the fault.
"""Count cotton bolls on drone pictures with two data-parallel workers on this machine."""
import json
import multiprocessing
import os
import socket
import time

import numpy as np

WORKERS = 2
SIDE = 48
BATCH = 32


def free_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def fields(count, seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:SIDE, :SIDE]
    pictures = rng.normal(0.3, 0.08, (count, SIDE, SIDE, 3)).astype("float32")
    bolls = rng.integers(0, 15, count)
    for picture, number in zip(pictures, bolls):
        for _ in range(number):
            row, column, size = rng.uniform(3, SIDE - 3), rng.uniform(3, SIDE - 3), rng.uniform(1.2, 2.4)
            picture += 0.6 * np.exp(-((y - row) ** 2 + (x - column) ** 2) / (2 * size**2))[..., None]
    return pictures, bolls.astype("float32")[:, None]


def train(rank, cluster):
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": cluster}, "task": {"type": "worker", "index": rank}})
    import tensorflow as tf

    tf.keras.utils.set_random_seed(2)
    print(f"worker {rank} of {WORKERS} at {cluster[rank]}", flush=True)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    print(f"worker {rank}: {strategy.num_replicas_in_sync} replicas in sync", flush=True)

    pictures, bolls = fields(1600, seed=rank)
    batches = iter(tf.data.Dataset.from_tensor_slices((pictures, bolls)).shuffle(1600).repeat().batch(BATCH).prefetch(2))
    he = tf.keras.initializers.HeNormal(seed=3)
    shapes = [(3, 3, 3, 24), (3, 3, 24, 32), (3, 3, 32, 48)]
    with strategy.scope():
        kernels = [tf.Variable(he(shape)) for shape in shapes]
        biases = [tf.Variable(tf.zeros(shape[-1])) for shape in shapes]
        head, offset = tf.Variable(he((48, 1))), tf.Variable([7.0])
    weights = [*kernels, *biases, head, offset]

    def one_replica(x, y):
        with tf.GradientTape() as tape:
            for kernel, bias in zip(kernels, biases):
                x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME") + bias), 2, 2, "SAME")
            loss = tf.reduce_mean(tf.abs(tf.reduce_sum(x, (1, 2)) @ head / 9 + offset - y))
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, weights), 5.0)
        context = tf.distribute.get_replica_context()
        for weight, gradient in zip(weights, context.all_reduce(tf.distribute.ReduceOp.MEAN, gradients)):
            weight.assign_sub(0.01 * gradient)
        return loss

    @tf.function
    def step(x, y):
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(one_replica, args=(x, y)), axis=None)

    began = time.perf_counter()
    for number in range(1, 200001):
        loss = step(*next(batches))
        if rank == 0 and number % 10 == 0:
            print(f"step {number} off by {float(loss):.3f} bolls ({time.perf_counter() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    addresses = [free_address() for _ in range(WORKERS)]
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=train, args=(rank, addresses)) for rank in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
