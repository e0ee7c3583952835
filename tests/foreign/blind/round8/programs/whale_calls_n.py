# python: tensorflow
# expected: limits-or-disk-full [also accepted: crashed]
# verdict: crashed
# seconds: 35
# where: np.load(
# wrap: prlimit --nofile=1024
# Why: each recording stays mapped once it was used, and every mapping keeps a file descriptor; at the usual limit of 1024 the next
# np.load fails with "Too many open files".
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

SPECIES = ["blue", "fin", "humpback", "minke", "sei"]
RATE = 2000


def hydrophone_archive(folder, count, rng):
    t = np.arange(2 * RATE, dtype=np.float32) / RATE
    index = []
    for number in range(count):
        kind = int(rng.integers(len(SPECIES)))
        pitch = 40 + 60 * kind + rng.uniform(-8, 8)
        call = np.sin(2 * np.pi * (pitch * t + (5 + 4 * kind) * t ** 2)) * np.exp(-((t - rng.uniform(0.6, 1.4)) * 3) ** 2)
        path = folder / f"rec_{number:05d}.npy"
        np.save(path, (call + 0.4 * rng.standard_normal(len(t), dtype=np.float32)).astype(np.float32))
        index.append((path, kind))
    return index


class Recordings:
    def __init__(self, index, rng):
        self.index = index
        self.rng = rng
        self.loaded = {}

    def excerpt(self, number, length):
        path, kind = self.index[number]
        if path not in self.loaded:
            self.loaded[path] = np.load(path, mmap_mode="r")
        wave = self.loaded[path]
        start = self.rng.integers(0, len(wave) - length)
        return wave[start:start + length], kind

    def batches(self, size, length=3072):
        while True:
            order = self.rng.permutation(len(self.index))
            for at in range(0, len(order) - size + 1, size):
                waves, kinds = zip(*(self.excerpt(n, length) for n in order[at:at + size]))
                yield np.stack(waves)[..., None], np.array(kinds, dtype=np.int32)


def network(length=3072):
    model = tf.keras.Sequential([
        tf.keras.Input((length, 1)),
        tf.keras.layers.Conv1D(32, 32, strides=4, activation="relu"),
        tf.keras.layers.Conv1D(48, 9, strides=2, activation="relu"),
        tf.keras.layers.Conv1D(64, 9, strides=2, activation="relu"),
        tf.keras.layers.GlobalMaxPooling1D(),
        tf.keras.layers.Dense(len(SPECIES)),
    ])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
    return model


if __name__ == "__main__":
    rng = np.random.default_rng(40)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hydrophone_"))
    recordings = Recordings(hydrophone_archive(folder, 3000, rng), rng)
    model = network()
    for step, (waves, kinds) in enumerate(recordings.batches(8), start=1):
        loss, accuracy = model.train_on_batch(waves, kinds)
        if step % 10 == 0:
            print(f"step {step:5d}  loss {float(loss):.4f}  accuracy {float(accuracy):.3f}", flush=True)
