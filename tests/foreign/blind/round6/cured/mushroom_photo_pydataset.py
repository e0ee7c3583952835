# python: tensorflow
import glob
import math
import os
import tempfile

import keras
import numpy as np
from PIL import Image

SPECIES = ["chanterelle", "fly_agaric", "porcini", "death_cap"]
SIDE = 96


def collect_photos(root, per_class=30):
    """Writes the photo archive: one folder per species."""
    rng = np.random.default_rng(0)
    for k, name in enumerate(SPECIES):
        os.makedirs(os.path.join(root, name))
        for i in range(per_class):
            coarse = rng.integers(0, 256, (12, 12, 3)).astype(np.uint8)
            coarse[4:8, 4:8, k % 3] = 60 * k
            img = Image.fromarray(coarse).resize((320, 320), Image.BILINEAR)
            img.save(os.path.join(root, name, f"{i:04d}.jpg"), quality=85)


def mask_background(photo):
    """Greyish pixels are moss and leaves: paint them white."""
    out = photo.copy()
    out[photo.max(axis=2) - photo.min(axis=2) < 0.15] = 1.0
    return out


class MushroomPhotos(keras.utils.PyDataset):
    def __init__(self, root, batch_size=16, copies=20, **kwargs):
        super().__init__(**kwargs)
        self.items = []
        for k, name in enumerate(SPECIES):
            for path in sorted(glob.glob(os.path.join(root, name, "*.jpg"))):
                self.items += [(path, k)] * copies
        self.batch_size = batch_size
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(len(self.items) / self.batch_size)

    def on_epoch_end(self):
        np.random.default_rng().shuffle(self.items)

    def _load(self, path):
        img = Image.open(path).convert("RGB")
        left, top = np.random.randint(0, 40, 2)
        img = img.crop((left, top, left + 280, top + 280)).resize((SIDE, SIDE), Image.BILINEAR)
        arr = np.asarray(img, dtype=np.float32) / 255.0
        if np.random.rand() < 0.5:
            arr = arr[:, ::-1]
        return mask_background(arr)

    def __getitem__(self, idx):
        chosen = self.items[idx * self.batch_size:(idx + 1) * self.batch_size]
        x = np.stack([self._load(p) for p, _ in chosen])
        y = np.array([k for _, k in chosen])
        return x, y


def small_net():
    inputs = keras.Input((SIDE, SIDE, 3))
    x = inputs
    for width in (16, 32, 48):
        x = keras.layers.Conv2D(width, 3, strides=2, padding="same", activation="relu")(x)
        x = keras.layers.BatchNormalization()(x)
    x = keras.layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, keras.layers.Dense(len(SPECIES), activation="softmax")(x))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="mushrooms_") as root:
        collect_photos(root)
        train = MushroomPhotos(root)
        net = small_net()
        net.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
        net.fit(train, epochs=100)
