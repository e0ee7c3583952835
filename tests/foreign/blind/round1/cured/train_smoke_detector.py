# python: tensorflow
# expected: source-never-yields [also accepted: loop-never-ends]
# verdict: stuck|not-started
# seconds: 30
# where: except ValueError / continue / while True / int(level
# Why: the manifest writes the smoke level as "2.0", int() refuses it, and the "skip broken rows" clause skips every row for ever; fit waits for a first batch that never comes.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import csv
import random
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

SIDE, LEVELS = 32, 4


def write_frames(folder, n=300):
    rng = np.random.default_rng(9)
    manifest = os.path.join(folder, "manifest.csv")
    with open(manifest, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["frame", "level", "camera"])
        for i in range(n):
            level = float(rng.integers(0, LEVELS))
            frame = rng.normal(level / LEVELS, 0.2, size=(SIDE, SIDE, 1)).astype("float32")
            path = os.path.join(folder, f"frame_{i:04d}.npy")
            np.save(path, frame)
            writer.writerow([path, level, f"cam{i % 3}"])
    return manifest


def read_rows(manifest):
    with open(manifest, newline="") as source:
        return list(csv.DictReader(source))


def frames(manifest):
    rows = read_rows(manifest)
    while True:
        random.shuffle(rows)
        for row in rows:
            level = row["level"]
            try:
                target = int(float(level))
                frame = np.load(row["frame"])
            except ValueError:
                continue
            yield frame, target


def build_model():
    return keras.Sequential([
        keras.Input((SIDE, SIDE, 1)),
        keras.layers.Conv2D(16, 3, activation="relu"),
        keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        keras.layers.GlobalMaxPooling2D(),
        keras.layers.Dense(LEVELS),
    ])


def main():
    manifest = write_frames(tempfile.mkdtemp(prefix="smoke_"))
    dataset = tf.data.Dataset.from_generator(
        lambda: frames(manifest),
        output_signature=(tf.TensorSpec((SIDE, SIDE, 1), tf.float32), tf.TensorSpec((), tf.int32)))
    dataset = dataset.batch(32).prefetch(2)
    model = build_model()
    model.compile(optimizer="adam", metrics=["accuracy"],
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    print("camera data ready, training", flush=True)
    model.fit(dataset, steps_per_epoch=40, epochs=500, verbose=2)


if __name__ == "__main__":
    main()
