# python: tensorflow
# expected: work-after-prefetch [also accepted: input-bound, serial-map]
# verdict: slow
# seconds: 25
# Why: the batches are decoded in parallel and prefetched, but the random recolouring and bicubic
# resizing of whole batches is mapped behind the prefetch and so runs between the steps.
import io
import os
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow as tf
from PIL import Image

RECORDS = os.path.join(tempfile.gettempdir(), "mushroom_plates.tfrecord")
N_FAMILIES = 6


def pack_plates(n=240):
    if os.path.isfile(RECORDS):
        return
    rng = np.random.default_rng(31)
    with tf.io.TFRecordWriter(RECORDS + "~") as out:
        for i in range(n):
            family = int(rng.integers(N_FAMILIES))
            base = rng.integers(0, 60, (8, 8, 3)) + np.array([20 + 25 * family, 140 - 20 * family, 60])
            img = Image.fromarray(base.clip(0, 255).astype(np.uint8)).resize((112, 112), Image.BICUBIC)
            buf = io.BytesIO()
            img.save(buf, "JPEG", quality=85)
            ex = tf.train.Example()
            ex.features.feature["plate"].bytes_list.value.append(buf.getvalue())
            ex.features.feature["family"].int64_list.value.append(family)
            out.write(ex.SerializeToString())
    os.rename(RECORDS + "~", RECORDS)


def read_plate(serialized):
    ex = tf.io.parse_single_example(serialized, {
        "plate": tf.io.FixedLenFeature((), tf.string),
        "family": tf.io.FixedLenFeature((), tf.int64)})
    image = tf.io.decode_jpeg(ex["plate"], channels=3)
    return tf.ensure_shape(image, (112, 112, 3)), ex["family"]


def vary(images, families):
    images = tf.cast(images, tf.float32) / 255.0
    images = tf.image.resize(images, (168, 168), method="bicubic")
    images = tf.image.random_crop(images, (tf.shape(images)[0], 144, 144, 3))
    images = tf.image.random_flip_up_down(images)
    images = tf.image.random_hue(images, 0.02)
    images = tf.image.random_saturation(images, 0.8, 1.2)
    images = tf.image.random_brightness(images, 0.1)
    images = tf.image.resize(tf.clip_by_value(images, 0.0, 1.0), (48, 48), antialias=True)
    return images, families


def dataset(batch=32):
    ds = tf.data.TFRecordDataset(RECORDS)
    ds = ds.map(read_plate, num_parallel_calls=2).shuffle(240).repeat()
    ds = ds.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    return ds.map(vary)


def train(steps=5000):
    model = tf.keras.Sequential([
        tf.keras.Input((48, 48, 3)),
        tf.keras.layers.Conv2D(8, 5, strides=3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(N_FAMILIES),
    ])
    sgd = tf.keras.optimizers.SGD(0.02, momentum=0.9)
    hit = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        sgd.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        hit.update_state(y, logits)
        return loss

    sgd.build(model.trainable_variables)
    it = iter(dataset())
    t0 = time.time()
    for n in range(1, steps + 1):
        images, families = next(it)
        loss = step(images, families)
        if n % 30 == 0:
            print(f"{n:5d}/{steps} loss={loss:.3f} acc={hit.result():.3f} t={time.time() - t0:.0f}s", flush=True)
            hit.reset_state()


pack_plates()
train()
