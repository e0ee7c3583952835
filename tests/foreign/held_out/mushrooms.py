# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 32
# Why: paths are shuffled, files are read and decoded by a parallel map, batched and prefetched; the functional model
# with several branches takes much longer than that. A checkpoint is written once an epoch.
import os
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, layers

WORKDIR = Path(tempfile.gettempdir()) / "mushroom-files"
SIZE = 72
AUTOTUNE = tf.data.AUTOTUNE


def gather(kinds=5, each=64):
    rng = np.random.default_rng(2)
    for kind in range(kinds):
        (WORKDIR / str(kind)).mkdir(parents=True, exist_ok=True)
        for i in range(each):
            file = WORKDIR / str(kind) / f"{i}.jpg"
            if not file.exists():
                noise = rng.integers(0, 255, (96, 96, 3), dtype=np.uint8)
                file.write_bytes(tf.io.encode_jpeg(noise, quality=80).numpy())
    return tf.io.gfile.glob(str(WORKDIR / "*" / "*.jpg"))


def read(path):
    kind = tf.strings.to_number(tf.strings.split(path, os.sep)[-2], tf.int32)
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.convert_image_dtype(image, tf.float32), kind


def augment(image, kind):
    image = tf.image.random_flip_left_right(tf.image.random_crop(image, (SIZE, SIZE, 3)))
    return image, kind


def conv(x, filters, stride=1):
    x = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    return layers.Activation("relu")(layers.BatchNormalization()(x))


def branches(x, filters):
    wide = conv(conv(x, filters), filters)
    narrow = layers.Conv2D(filters, 1, activation="relu")(x)
    return layers.Concatenate()([wide, narrow])


files = gather()
pipeline = tf.data.Dataset.from_tensor_slices(files).shuffle(len(files)).repeat()
pipeline = pipeline.map(read, AUTOTUNE).map(augment, AUTOTUNE).batch(16).prefetch(AUTOTUNE)

entry = layers.Input((SIZE, SIZE, 3))
x = conv(entry, 32)
x = branches(x, 32)
x = layers.MaxPool2D()(x)
x = branches(x, 48)
x = layers.GlobalAveragePooling2D()(x)
model = Model(entry, layers.Dense(5, activation="softmax")(x))
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])

keep = tf.keras.callbacks.ModelCheckpoint(str(WORKDIR / "mushrooms.weights.h5"), save_weights_only=True)
model.fit(pipeline, steps_per_epoch=20, epochs=60, callbacks=[keep])
