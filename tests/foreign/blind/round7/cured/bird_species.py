# python: tensorflow
# The twin without the fault.
import os
import tempfile

import numpy as np
import keras
from keras import layers
from PIL import Image

SPECIES = ["robin", "wren", "jay", "siskin", "nuthatch", "dunnock"]
SIZE = 80


def make_album(folder, photos=90, per_photo=12, seed=5):
    """Camera-trap photos with a box around each bird."""
    rng = np.random.default_rng(seed)
    tint = rng.integers(30, 200, (len(SPECIES), 3))
    rows = []
    for p in range(photos):
        noise = rng.integers(0, 56, (750, 1000, 1), dtype=np.uint8)
        scene = np.repeat(noise, 3, axis=2)
        scene[..., 1] += 80
        for _ in range(per_photo):
            kind = int(rng.integers(len(SPECIES)))
            x, y = int(rng.integers(0, 800)), int(rng.integers(0, 560))
            w, h = int(rng.integers(90, 190)), int(rng.integers(90, 180))
            scene[y + h // 4:y + 3 * h // 4, x + w // 4:x + 3 * w // 4] = (
                tint[kind] + rng.integers(0, 50, (3 * h // 4 - h // 4, 3 * w // 4 - w // 4, 3))).astype(np.uint8)
            rows.append((f"{folder}/cam_{p:04d}.jpg", (x, y, x + w, y + h), kind))
        Image.fromarray(scene).save(f"{folder}/cam_{p:04d}.jpg", quality=88)
    rng.shuffle(rows)
    return [(str(a), tuple(int(v) for v in b), int(c)) for a, b, c in rows]


class BirdCrops(keras.utils.PyDataset):
    def __init__(self, rows, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.rows = rows
        self.batch_size = batch_size

    def __len__(self):
        return len(self.rows) // self.batch_size

    def __getitem__(self, index):
        part = self.rows[index * self.batch_size:(index + 1) * self.batch_size]
        images = np.empty((len(part), SIZE, SIZE, 3), np.float32)
        labels = np.empty(len(part), np.int64)
        for k, (path, box, kind) in enumerate(part):
            photo = Image.open(path).convert("RGB")
            bird = photo.crop(box).resize((SIZE, SIZE), Image.BICUBIC)
            images[k] = np.asarray(bird, np.float32) / 255.0
            labels[k] = kind
        return images, labels


def build():
    return keras.Sequential([
        keras.Input((SIZE, SIZE, 3)),
        layers.Conv2D(16, 5, strides=2, activation="relu", padding="same"),
        layers.Conv2D(32, 3, strides=2, activation="relu", padding="same"),
        layers.Conv2D(48, 3, strides=2, activation="relu", padding="same"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(64, activation="relu"),
        layers.Dense(len(SPECIES), activation="softmax"),
    ])


if __name__ == "__main__":
    album = tempfile.mkdtemp(prefix="album_")
    rows = make_album(album)
    print(len(rows), "birds on", len(os.listdir(album)), "photos", flush=True)
    train = BirdCrops(rows, batch_size=16, workers=4)
    model = build()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, epochs=100)
