# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 40
# Why: a PyDataset with one worker and batches of four; cutting a batch out of the memory map takes under a millisecond and the U-Net hundreds.
import os
import tempfile

import keras
import numpy as np
from keras import layers

TILE = 96
COUNT = 600


def write_tiles(folder):
    rng = np.random.default_rng(2)
    images = np.memmap(os.path.join(folder, "images.u8"), np.uint8, "w+", shape=(COUNT, TILE, TILE, 3))
    masks = np.memmap(os.path.join(folder, "masks.u8"), np.uint8, "w+", shape=(COUNT, TILE, TILE, 1))
    yy, xx = np.mgrid[0:TILE, 0:TILE]
    for i in range(COUNT):
        bank = TILE / 2 + 18 * np.sin(xx / rng.uniform(9, 25) + rng.uniform(0, 6))
        ice = (np.abs(yy - bank) < rng.uniform(8, 22)).astype(np.uint8)
        masks[i, :, :, 0] = ice
        images[i] = np.clip(rng.normal(90, 25, (TILE, TILE, 3)) + 80 * ice[..., None], 0, 255)
    images.flush()
    masks.flush()


class IceTiles(keras.utils.PyDataset):
    def __init__(self, folder, batch=4):
        super().__init__(workers=1)
        self.images = np.memmap(os.path.join(folder, "images.u8"), np.uint8, "r", shape=(COUNT, TILE, TILE, 3))
        self.masks = np.memmap(os.path.join(folder, "masks.u8"), np.uint8, "r", shape=(COUNT, TILE, TILE, 1))
        self.batch = batch
        self.on_epoch_end()

    def __len__(self):
        return COUNT // self.batch

    def on_epoch_end(self):
        self.order = np.random.permutation(COUNT)

    def __getitem__(self, i):
        rows = np.sort(self.order[i * self.batch:(i + 1) * self.batch])
        return self.images[rows].astype(np.float32) / 255.0, self.masks[rows].astype(np.float32)


def double_conv(x, width):
    for _ in range(2):
        x = layers.Conv2D(width, 3, padding="same", activation="relu", kernel_initializer="he_normal")(x)
    return x


def unet():
    inp = keras.Input((TILE, TILE, 3))
    skips, x = [], inp
    for width in (24, 48, 96):
        x = double_conv(x, width)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = double_conv(x, 128)
    for width, skip in zip((96, 48, 24), reversed(skips)):
        x = layers.Conv2DTranspose(width, 2, strides=2)(x)
        x = double_conv(layers.concatenate([x, skip]), width)
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(x))


def main():
    with tempfile.TemporaryDirectory(prefix="river_ice_") as folder:
        write_tiles(folder)
        model = unet()
        model.compile(keras.optimizers.Adam(3e-4), "binary_crossentropy", metrics=[keras.metrics.BinaryIoU()])
        model.fit(IceTiles(folder), epochs=50)


if __name__ == "__main__":
    main()
