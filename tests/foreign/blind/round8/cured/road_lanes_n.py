# python: tensorflow
# expected: host-memory-leak
# verdict: healthy|slow
# seconds: 35
# where: self.predicted.append / self.truth.append / self.predicted = []
# Why: the running score keeps the predictions of every step although it looks only at the last twenty; memory grows with each step.
import collections
import logging

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("lanes")
CLASSES = 4
SIZE = 64


class RunningScore:
    """Mean intersection over union of the latest batches."""

    def __init__(self, latest=20):
        self.latest = latest
        self.predicted = collections.deque(maxlen=latest)
        self.truth = collections.deque(maxlen=latest)

    def add(self, probabilities, masks):
        self.predicted.append(probabilities)
        self.truth.append(masks)

    def value(self):
        guess = np.concatenate([p.numpy().argmax(-1) for p in list(self.predicted)[-self.latest:]])
        right = np.concatenate([m.numpy() for m in list(self.truth)[-self.latest:]])
        scores = []
        for k in range(CLASSES):
            union = np.logical_or(guess == k, right == k).sum()
            if union:
                scores.append(np.logical_and(guess == k, right == k).sum() / union)
        return float(np.mean(scores))


def road_scenes(count, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32") / SIZE
    centre = rng.uniform(0.35, 0.65, (count, 1, 1)).astype("float32")
    bend = rng.uniform(-0.3, 0.3, (count, 1, 1)).astype("float32")
    middle = centre + bend * (1 - yy) ** 2
    half = 0.05 + 0.3 * yy
    masks = np.zeros((count, SIZE, SIZE), dtype=np.int32)
    masks[np.abs(xx - middle) < half] = 1
    masks[np.abs(np.abs(xx - middle) - half) < 0.03] = 2
    masks[np.broadcast_to(yy < 0.2, masks.shape)] = 3
    colours = np.array([[60, 110, 50], [90, 90, 95], [230, 230, 210], [120, 160, 220]], dtype="float32") / 255
    images = colours[masks] + rng.normal(0, 0.08, (count, SIZE, SIZE, 3)).astype("float32")
    return images.astype("float32"), masks


def build():
    image = layers.Input((SIZE, SIZE, 3))
    a = layers.Conv2D(16, 3, padding="same", activation="relu")(image)
    b = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(a)
    c = layers.Conv2D(48, 3, strides=2, padding="same", activation="relu")(b)
    up = layers.Conv2D(32, 3, padding="same", activation="relu")(layers.UpSampling2D()(c))
    up = layers.Conv2D(16, 3, padding="same", activation="relu")(layers.UpSampling2D()(layers.Concatenate()([up, b])))
    return tf.keras.Model(image, layers.Conv2D(CLASSES, 1, activation="softmax")(layers.Concatenate()([up, a])))


model = build()
optimizer = tf.keras.optimizers.Adam(2e-3)
cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy()


@tf.function
def step(images, masks):
    with tf.GradientTape() as tape:
        probabilities = model(images, training=True)
        loss = cross_entropy(masks, probabilities)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss, probabilities


scenes = tf.data.Dataset.from_tensor_slices(road_scenes(800, 4)).shuffle(800).repeat().batch(16).prefetch(2)
score = RunningScore()
for number, (images, masks) in enumerate(scenes, start=1):
    loss, probabilities = step(images, masks)
    score.add(probabilities, masks)
    if number % 50 == 0:
        log.info("step %d loss %.4f mIoU %.3f", number, float(loss), score.value())
