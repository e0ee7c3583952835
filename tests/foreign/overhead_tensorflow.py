"""As overhead_target.py, with a real TensorFlow training in place of the Python loop: overhead_tensorflow.py SECONDS"""
import sys
import time

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(10)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.rand(128, 256).astype(np.float32)
y = np.random.randint(0, 10, 128)
for _ in range(20):
    model.train_on_batch(x, y)
print("ready", flush=True)
until, steps = time.monotonic() + float(sys.argv[1]), 0
while time.monotonic() < until:
    model.train_on_batch(x, y)
    steps += 1
print(steps, flush=True)
