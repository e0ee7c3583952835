# python: tensorflow
# expected: waits-for-pipe
# verdict: stuck
# seconds: 35
# where: self.proc.stdout.read
# Why: the echo simulator is a child process with stdin, stdout and stderr as pipes; nobody reads its stderr, so after 64 KiB of log
#      lines the child blocks in writing them and the trainer waits for ever for the next echoes. The cured twin lets stderr go its way.
"""Classify sea-floor material from simulated sonar echoes."""
import struct
import subprocess
import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras

SAMPLES, MATERIALS, BATCH = 512, 5, 48

SIMULATOR = r'''
import sys, struct
import numpy as np
SAMPLES, MATERIALS = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(99)
t = np.arange(SAMPLES)
pulse = np.sin(np.arange(40) * 0.7) * np.hanning(40)
while True:
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        break
    count, = struct.unpack("<i", head)
    material = rng.integers(MATERIALS, size=count)
    echoes = np.empty((count, SAMPLES), np.float32)
    for i, m in enumerate(material):
        delay = rng.integers(60, 300)
        trace = rng.normal(0, 0.25, SAMPLES)
        for k in range(2 + m):
            at = delay + k * (9 + 2 * m)
            trace[at:at + 40] += pulse[: SAMPLES - at] * (0.9 ** (k * (MATERIALS - m)))
        echoes[i] = trace
        if i % 8 == 0:
            print(f"INFO simulator: ping {i:3d} bottom at sample {delay}, impedance class {m}", file=sys.stderr, flush=True)
    sys.stdout.buffer.write(material.astype(np.int32).tobytes() + echoes.tobytes())
    sys.stdout.buffer.flush()
'''


class EchoSimulator:
    """Talks to the simulator, which is its own program with its own libraries."""

    def __init__(self):
        self.proc = subprocess.Popen(
            [sys.executable, "-c", SIMULATOR, str(SAMPLES), str(MATERIALS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ask(self, count):
        self.proc.stdin.write(struct.pack("<i", count))
        self.proc.stdin.flush()
        material = np.frombuffer(self.proc.stdout.read(4 * count), np.int32)
        echoes = np.frombuffer(self.proc.stdout.read(4 * count * SAMPLES), np.float32)
        return echoes.reshape(count, SAMPLES, 1), material

    def close(self):
        self.proc.stdin.close()
        self.proc.wait(timeout=5)


def build_model():
    return keras.Sequential([
        keras.Input((SAMPLES, 1)),
        keras.layers.Conv1D(32, 9, strides=2, padding="same", activation="relu"),
        keras.layers.Conv1D(48, 7, strides=2, padding="same", activation="relu"),
        keras.layers.Conv1D(64, 5, strides=2, padding="same", activation="relu"),
        keras.layers.GlobalMaxPooling1D(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(MATERIALS, activation="softmax"),
    ])


if __name__ == "__main__":
    simulator = EchoSimulator()
    model = build_model()
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    try:
        for step in range(1, 20001):
            echoes, material = simulator.ask(BATCH)
            logs = model.train_on_batch(echoes, material, return_dict=True)
            if step % 10 == 0:
                print(f"step {step} loss {logs['loss']:.4f} accuracy {logs['accuracy']:.3f}", flush=True)
            if step % 200 == 0:
                model.reset_metrics()
    finally:
        simulator.close()
