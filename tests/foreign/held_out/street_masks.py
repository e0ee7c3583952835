# python: tensorflow
# expected: per-pixel-python
# verdict: slow
# seconds: 30
# where: CLASSES.get / for j in / for i in range(rgb
# Why: the colours of each label picture become classes one pixel at a time, with a tuple and a look-up in a dict for
# each, inside tf.numpy_function: the parallel map has two threads there, of which one holds the interpreter's lock. An
# array look-up would do; the net itself needs about an eighth of the step.
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tempfile
from glob import glob

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from PIL import Image

FOLDER = os.path.join(tempfile.gettempdir(), "street-masks")
HEIGHT, WIDTH, BATCH = 120, 160, 8
CLASSES = {
    (0, 0, 0): 0,
    (128, 64, 128): 1,
    (244, 35, 232): 2,
    (70, 70, 70): 3,
    (107, 142, 35): 4,
    (70, 130, 180): 5,
    (220, 20, 60): 6,
    (0, 0, 142): 7,
}

if len(glob(f"{FOLDER}/*.png")) < 2 * 96:
    rng = np.random.default_rng(11)
    colours = np.array(list(CLASSES), np.uint8)
    os.makedirs(FOLDER, exist_ok=True)
    for i in range(96):
        blocks = rng.integers(0, len(colours), (HEIGHT // 20, WIDTH // 20)).repeat(20, 0).repeat(20, 1)
        noise = rng.integers(0, 60, (HEIGHT, WIDTH, 3), dtype=np.uint8)
        Image.fromarray(colours[blocks]).save(f"{FOLDER}/{i:03d}_label.png")
        Image.fromarray(colours[blocks] // 2 + noise).save(f"{FOLDER}/{i:03d}_photo.png")

photos = sorted(glob(f"{FOLDER}/*_photo.png"))
labels = sorted(glob(f"{FOLDER}/*_label.png"))
print(len(photos), "photos,", len(labels), "labels")


def read_label(path):
    rgb = np.array(Image.open(path.decode()))
    mask = np.zeros(rgb.shape[:2], dtype=np.uint8)
    for i in range(rgb.shape[0]):
        for j in range(rgb.shape[1]):
            mask[i, j] = CLASSES.get(tuple(rgb[i, j]), 0)
    return mask


def load(photo, label):
    x = tf.io.decode_png(tf.io.read_file(photo), channels=3)
    y = tf.numpy_function(read_label, [label], tf.uint8)
    x.set_shape((HEIGHT, WIDTH, 3))
    y.set_shape((HEIGHT, WIDTH))
    return tf.cast(x, tf.float32) / 255.0, y


train = (tf.data.Dataset.from_tensor_slices((photos, labels))
         .shuffle(len(photos))
         .map(load, num_parallel_calls=tf.data.AUTOTUNE)
         .batch(BATCH)
         .prefetch(tf.data.AUTOTUNE))

inputs = keras.Input((HEIGHT, WIDTH, 3))
a = layers.Conv2D(12, 3, strides=2, padding="same", activation="relu")(inputs)
b = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(a)
b = layers.Conv2D(24, 3, padding="same", activation="relu")(b)
u = layers.Concatenate()([layers.UpSampling2D()(b), a])
u = layers.Conv2DTranspose(len(CLASSES), 2, strides=2)(u)
unet = keras.Model(inputs, layers.Softmax()(u))
unet.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = unet.fit(train, epochs=60, verbose=2)
