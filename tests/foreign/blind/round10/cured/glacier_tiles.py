# python: tensorflow
"""Segment crevasses in radar tiles of a glacier tongue."""
import argparse
import zlib

import numpy as np
import tensorflow as tf
from tensorflow import keras

TILE = 64


def packed_archive(count, seed):
    rng = np.random.default_rng(seed)
    blobs, masks = [], []
    for _ in range(count):
        tile = rng.normal(100, 18, (TILE, TILE))
        mask = np.zeros((TILE, TILE), np.uint8)
        for _ in range(rng.integers(1, 4)):
            slope, start = rng.uniform(-1, 1), rng.integers(0, TILE)
            for x in range(TILE):
                y = int(start + slope * x)
                if 0 <= y < TILE - 3:
                    mask[y:y + 3, x] = 1
        tile -= 50 * mask
        blobs.append(zlib.compress(np.clip(tile, 0, 255).astype(np.uint8).tobytes(), 3))
        masks.append(mask)
    return blobs, np.stack(masks)


def unpack(blob, mask):
    raw = tf.io.decode_compressed(blob, compression_type="ZLIB")
    tile = tf.reshape(tf.io.decode_raw(raw, tf.uint8), (TILE, TILE, 1))
    tile = tf.cast(tile, tf.float32) / 255.0
    gy, gx = tf.image.image_gradients(tile[None])
    edges = tf.sqrt(gy[0] ** 2 + gx[0] ** 2)
    stack = tf.concat([tile, edges], axis=-1)
    return stack, tf.cast(mask[..., None], tf.float32)


def pipeline(blobs, masks, batch):
    ds = tf.data.Dataset.from_tensor_slices((blobs, masks))
    ds = ds.map(unpack, num_parallel_calls=2).cache()
    ds = ds.shuffle(256).repeat()
    return ds.batch(batch).prefetch(2)


def unet():
    inp = keras.Input((TILE, TILE, 2))
    a = keras.layers.Conv2D(16, 3, padding="same", activation="relu")(inp)
    b = keras.layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(a)
    c = keras.layers.Conv2D(32, 3, padding="same", activation="relu")(b)
    up = keras.layers.UpSampling2D()(c)
    d = keras.layers.Conv2D(16, 3, padding="same", activation="relu")(keras.layers.Concatenate()([up, a]))
    return keras.Model(inp, keras.layers.Conv2D(1, 1, activation="sigmoid")(d))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiles", type=int, default=768)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=200)
    args = parser.parse_args()
    blobs, masks = packed_archive(args.tiles, seed=3)
    print(f"{len(blobs)} tiles, {sum(map(len, blobs)) / 1e6:.1f} MB packed, crevasse share {masks.mean():.3f}", flush=True)
    model = unet()
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=[keras.metrics.BinaryIoU([1], name="iou")])
    model.fit(pipeline(blobs, masks, args.batch), steps_per_epoch=args.tiles // args.batch, epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
