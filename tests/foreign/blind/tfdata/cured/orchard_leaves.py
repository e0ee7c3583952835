"""Sort leaf photographs from the orchard into five conditions."""
import os
import pathlib
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow as tf
from PIL import Image
from tensorflow import keras

CONDITIONS = ["scab", "rust", "mildew", "frost", "sound"]
IMAGE_SIZE = 64
BATCH = 32


def photograph(rng, kind):
    coarse = rng.integers(40, 200, (15, 20, 3), dtype=np.uint8)
    coarse[:, :, kind % 3] = np.clip(coarse[:, :, kind % 3] + 12 * kind, 0, 255)
    picture = Image.fromarray(coarse).resize((640, 480), Image.BILINEAR)
    pixels = np.asarray(picture).astype(np.int16)
    pixels = pixels + rng.integers(-12, 12, (480, 640, 1), dtype=np.int16)
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def collect(folder, per_condition=30):
    rng = np.random.default_rng(41)
    for kind, name in enumerate(CONDITIONS):
        target = folder / name
        target.mkdir(parents=True, exist_ok=True)
        for i in range(per_condition):
            path = target / f"leaf_{i:03d}.jpg"
            if not path.exists():
                photograph(rng, kind).save(path, quality=90)
    return [(str(p), k) for k, n in enumerate(CONDITIONS) for p in sorted((folder / n).glob("*.jpg"))]


def load(path, label):
    data = tf.io.read_file(path)
    picture = tf.io.decode_jpeg(data, channels=3)
    picture = tf.image.random_flip_left_right(picture)
    picture = tf.image.resize(picture, (IMAGE_SIZE, IMAGE_SIZE))
    return picture / 255.0, label


def build():
    return keras.Sequential([
        keras.Input((IMAGE_SIZE, IMAGE_SIZE, 3)),
        keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
        keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(len(CONDITIONS), activation="softmax"),
    ])


def main():
    keras.utils.set_random_seed(5)
    items = collect(pathlib.Path(tempfile.gettempdir()) / "orchard_leaves")
    paths, labels = zip(*items)
    train = tf.data.Dataset.from_tensor_slices((list(paths), list(labels)))
    train = train.shuffle(len(paths), seed=3).repeat()
    train = train.map(load)
    train = train.batch(BATCH)
    train = train.prefetch(tf.data.AUTOTUNE)
    train = train.take(2).cache().repeat().prefetch(2)

    model = build()
    model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.summary()
    model.fit(train, epochs=60, steps_per_epoch=40)
    print("finished after", int(model.optimizer.iterations), "updates")


if __name__ == "__main__":
    main()
