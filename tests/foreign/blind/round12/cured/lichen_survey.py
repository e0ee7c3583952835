# python: tensorflow
"""Classify lichen growth forms from spectral patches, data parallel over the hosts of the survey."""
import json
import os
import time

HOSTS = ["127.0.0.1:29431"]
os.environ.setdefault("TF_CONFIG", json.dumps({
    "cluster": {"worker": HOSTS},
    "task": {"type": "worker", "index": int(os.environ.get("SURVEY_HOST", "0"))},
}))

import numpy as np
import tensorflow as tf

CLASSES = 6
BANDS = 8
PATCH = 24
BATCH = 64


def make_patches(n, seed):
    rng = np.random.default_rng(seed)
    prototypes = np.random.default_rng(7).normal(0, 1, (CLASSES, PATCH, PATCH, BANDS)).astype("float32")
    y = rng.integers(0, CLASSES, n)
    x = 0.25 * prototypes[y] + rng.normal(0, 1, (n, PATCH, PATCH, BANDS)).astype("float32")
    return x.astype("float32"), y.astype("int32")


class Conv(tf.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        scale = (2.0 / (9 * cin)) ** 0.5
        self.w = tf.Variable(tf.random.normal((3, 3, cin, cout), stddev=scale))
        self.b = tf.Variable(tf.zeros(cout))
        self.stride = stride

    def __call__(self, x):
        return tf.nn.relu(tf.nn.conv2d(x, self.w, self.stride, "SAME") + self.b)


class LichenNet(tf.Module):
    def __init__(self):
        super().__init__()
        self.convs = [Conv(BANDS, 32, 1), Conv(32, 48, 2), Conv(48, 64, 2)]
        self.w = tf.Variable(tf.random.normal((64, CLASSES), stddev=0.1))
        self.b = tf.Variable(tf.zeros(CLASSES))

    def __call__(self, x):
        for conv in self.convs:
            x = conv(x)
        return tf.reduce_mean(x, [1, 2]) @ self.w + self.b


def main():
    print("survey hosts:", HOSTS, flush=True)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    print("replicas in sync:", strategy.num_replicas_in_sync, flush=True)
    x, y = make_patches(6000, seed=1)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2000).repeat().batch(BATCH).prefetch(2)
    batches = iter(strategy.experimental_distribute_dataset(data))
    with strategy.scope():
        net = LichenNet()
        velocity = [tf.Variable(tf.zeros_like(v)) for v in net.trainable_variables]

    def replica_step(xb, yb):
        with tf.GradientTape() as tape:
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(yb, net(xb))
            loss = tf.reduce_mean(ce)
        grads = tape.gradient(loss, net.trainable_variables)
        context = tf.distribute.get_replica_context()
        grads = context.all_reduce(tf.distribute.ReduceOp.MEAN, grads)
        for v, m, g in zip(net.trainable_variables, velocity, grads):
            m.assign(0.9 * m + g)
            v.assign_sub(0.02 * m)
        return loss

    @tf.function
    def train_step(xb, yb):
        losses = strategy.run(replica_step, args=(xb, yb))
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)

    start = time.time()
    for step in range(1, 20001):
        loss = train_step(*next(batches))
        if step % 10 == 0:
            print(f"step {step} loss {float(loss):.4f} {step / (time.time() - start):.1f} steps/s", flush=True)


if __name__ == "__main__":
    main()
