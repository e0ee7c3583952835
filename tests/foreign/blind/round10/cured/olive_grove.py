# python: tensorflow
"""Yield per tree from drone imagery features, trained data-parallel.

    python olive_grove.py --index 0
"""
import argparse
import json
import os

parser = argparse.ArgumentParser()
parser.add_argument("--workers", default="127.0.0.1:29841")
parser.add_argument("--index", type=int, default=0)
parser.add_argument("--steps", type=int, default=20000)
parser.add_argument("--batch", type=int, default=256)
args = parser.parse_args()

os.environ["TF_CONFIG"] = json.dumps({
    "cluster": {"worker": args.workers.split(",")},
    "task": {"type": "worker", "index": args.index},
})

import numpy as np
import tensorflow as tf

FEATURES = 128


def trees(seed):
    rng = np.random.default_rng(seed)
    mix = np.random.default_rng(0).normal(0, 1, (FEATURES, 6)).astype(np.float32) / np.sqrt(FEATURES)
    x = rng.normal(0, 1, (20000, FEATURES)).astype(np.float32)
    h = np.tanh(x @ mix * 2)
    y = 20 + 6 * h[:, 0] * h[:, 1] + 4 * h[:, 2] - 3 * h[:, 3] ** 2 + rng.normal(0, 0.3, len(x))
    return x, ((y - 20) / 5).astype(np.float32)


class Regressor(tf.Module):
    def __init__(self, widths):
        super().__init__()
        init = tf.keras.initializers.HeNormal(seed=1)
        self.layers = [(tf.Variable(init((a, b))), tf.Variable(tf.zeros((b,)))) for a, b in zip(widths, widths[1:])]

    def __call__(self, x):
        for n, (w, b) in enumerate(self.layers):
            x = x @ w + b
            if n + 1 < len(self.layers):
                x = tf.nn.relu(x)
        return x[:, 0]


print(f"worker {args.index} of {args.workers.count(',') + 1}", flush=True)
strategy = tf.distribute.MultiWorkerMirroredStrategy()
print(f"{strategy.num_replicas_in_sync} replicas in sync", flush=True)

x, y = trees(seed=args.index)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(20000).repeat().batch(args.batch).prefetch(2)
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
data = iter(strategy.experimental_distribute_dataset(data.with_options(options)))

with strategy.scope():
    model = Regressor([FEATURES, 512, 512, 1])


def replica_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb) - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    context = tf.distribute.get_replica_context()
    grads = context.all_reduce(tf.distribute.ReduceOp.MEAN, grads)
    for variable, grad in zip(model.trainable_variables, grads):
        variable.assign_sub(0.02 * grad)
    return loss


@tf.function
def train_step(xb, yb):
    return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica_step, args=(xb, yb)), axis=None)


for step in range(1, args.steps + 1):
    loss = train_step(*next(data))
    if step % 50 == 0:
        print(f"step {step} loss {float(loss):.4f}", flush=True)
