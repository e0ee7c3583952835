# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 25
# Why: the twin without the fault.
"""Classify the phases of alloys on micrographs (grains by Voronoi cells), a small residual network."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(1234)

SIDE = 64
PHASES = ["ferrite", "pearlite", "bainite", "martensite", "austenite"]


def micrographs(count, seed):
    rng = np.random.default_rng(seed)
    phases = rng.integers(0, len(PHASES), count)
    y, x = np.mgrid[:SIDE, :SIDE].astype("float32")
    pictures = np.empty((count, SIDE, SIDE, 1), "float32")
    for picture, phase in zip(pictures, phases):
        grains = 6 + 5 * phase
        centres = rng.uniform(0, SIDE, (grains, 2))
        distance = np.sqrt((y[..., None] - centres[:, 0]) ** 2 + (x[..., None] - centres[:, 1]) ** 2)
        nearest = np.partition(distance, 1, axis=-1)
        boundary = np.exp(-(nearest[..., 1] - nearest[..., 0]))
        shade = rng.uniform(0.4, 0.8, grains)[distance.argmin(-1)]
        picture[..., 0] = shade - 0.4 * boundary + rng.normal(0, 0.08, (SIDE, SIDE))
    return pictures, phases


def residual(x, filters, strides):
    shortcut = layers.Conv2D(filters, 1, strides=strides)(x)
    x = layers.Conv2D(filters, 3, strides=strides, padding="same", use_bias=False)(x)
    x = layers.ReLU()(layers.BatchNormalization()(x))
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    return layers.ReLU()(layers.Add()([layers.BatchNormalization()(x), shortcut]))


def network():
    inputs = keras.Input((SIDE, SIDE, 1))
    x = layers.Conv2D(24, 5, padding="same", activation="relu")(inputs)
    for filters, strides in ((24, 1), (48, 2), (64, 2)):
        x = residual(x, filters, strides)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, layers.Dense(len(PHASES), activation="softmax")(x))


pictures, phases = micrographs(1600, 99)
training = tf.data.Dataset.from_tensor_slices((pictures[:1400], phases[:1400])).shuffle(2200).batch(32).prefetch(2)
testing = tf.data.Dataset.from_tensor_slices((pictures[1400:], phases[1400:])).batch(100)
model = network()
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(training, validation_data=testing, epochs=100)
