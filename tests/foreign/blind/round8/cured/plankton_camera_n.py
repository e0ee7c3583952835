# python: tensorflow
# expected: shuffle-fill
# verdict: slow|not-started
# seconds: 30
# where: .shuffle(
# Why: the shuffle buffer of 60000 stands behind the decoding, so 60000 JPEG frames are decoded before the first batch comes out.
import io

import numpy as np
import tensorflow as tf
from PIL import Image, ImageDraw

KINDS = ["copepod", "diatom", "krill", "larva", "medusa", "detritus"]
FRAMES_IN_LOG = 90000


def snapshot(kind, rng):
    noise = rng.normal(40, 14, (320, 320, 3)).clip(0, 255).astype(np.uint8)
    picture = Image.fromarray(noise)
    pen = ImageDraw.Draw(picture)
    cx, cy = rng.integers(110, 210, 2)
    for k in range(kind + 1):
        r = 18 + 9 * k
        pen.ellipse([cx - r, cy - r // 2, cx + r, cy + r // 2], outline=(200, 220 - 20 * kind, 120 + 20 * kind), width=3)
    packed = io.BytesIO()
    picture.save(packed, "JPEG", quality=90)
    return packed.getvalue()


rng = np.random.default_rng(5)
kinds = rng.integers(0, len(KINDS), 300)
log_frames = tf.constant([snapshot(int(k), rng) for k in kinds])
log_kinds = tf.constant(kinds, tf.int32)


def read_frame(number):
    slot = number % 300
    image = tf.io.decode_jpeg(log_frames[slot], channels=3)
    image = tf.image.random_crop(image, [256, 256, 3])
    image = tf.image.random_flip_left_right(image)
    image = tf.cast(tf.image.resize(image, [40, 40]), tf.uint8)
    return image, log_kinds[slot]


frames = (
    tf.data.Dataset.range(FRAMES_IN_LOG)
    .shuffle(60000)
    .map(read_frame, num_parallel_calls=tf.data.AUTOTUNE)
    .batch(64, drop_remainder=True)
    .repeat()
    .prefetch(tf.data.AUTOTUNE)
)

model = tf.keras.Sequential([
    tf.keras.Input((40, 40, 3)),
    tf.keras.layers.Rescaling(1 / 255.0),
    tf.keras.layers.Conv2D(16, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(len(KINDS)),
])
model.compile(
    optimizer="adam",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
print("kinds:", ", ".join(KINDS), flush=True)
model.fit(frames, steps_per_epoch=FRAMES_IN_LOG // 64, epochs=20)
