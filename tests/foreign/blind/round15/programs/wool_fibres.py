# python: tensorflow
# expected: healthy
# verdict: healthy
# seconds: 30
# Why: memory grows in the first epoch only, while cache() takes in the decoded pictures (100 MB), and then stays; the epochs after it
# read from memory.
"""Measure wool fibres in microscope pictures: TFRecords of PNGs, decoded once and cached, and a model with its own train_step."""
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

SIDE = 96
PICTURES = 2_560
BATCH = 32
EPOCHS = 120


def write_records(path, rng):
    """Pictures of one fibre each: a bright band across the frame; the label is its thickness."""
    grid = np.linspace(-1.0, 1.0, SIDE, dtype="float32")
    y, x = np.meshgrid(grid, grid, indexing="ij")
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(PICTURES):
            angle, offset, thick = rng.uniform(0, np.pi), rng.uniform(-0.4, 0.4), rng.uniform(0.08, 0.4)
            far = np.abs(x * np.cos(angle) + y * np.sin(angle) - offset)
            picture = 70.0 + 120.0 * (far < thick) + 18.0 * rng.standard_normal((SIDE, SIDE), dtype="float32")
            png = tf.io.encode_png(picture.clip(0, 255).astype("uint8")[..., None], compression=1).numpy()
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "png": tf.train.Feature(bytes_list=tf.train.BytesList(value=[png])),
                "thick": tf.train.Feature(float_list=tf.train.FloatList(value=[thick]))})).SerializeToString())


def decode(record):
    fields = tf.io.parse_single_example(record, {"png": tf.io.FixedLenFeature([], tf.string),
                                                 "thick": tf.io.FixedLenFeature([1], tf.float32)})
    picture = tf.cast(tf.io.decode_png(fields["png"], channels=1), tf.float32)
    picture = tf.image.per_image_standardization(tf.ensure_shape(picture, [SIDE, SIDE, 1]))
    return picture, (fields["thick"] - 0.24) / 0.092


def pictures(path):
    data = tf.data.TFRecordDataset(path).map(decode, num_parallel_calls=tf.data.AUTOTUNE)
    data = data.apply(tf.data.experimental.assert_cardinality(PICTURES)).cache().shuffle(512)
    data = data.map(lambda picture, thick: (tf.image.random_flip_left_right(picture), thick), num_parallel_calls=2)
    return data.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


class Gauge(keras.Model):
    """Clips the gradients by their joint norm and shows that norm."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.norm = keras.metrics.Mean(name="norm")

    def train_step(self, data):
        picture, thick = data
        with tf.GradientTape() as tape:
            guess = self(picture, training=True)
            loss = self.compute_loss(picture, thick, guess)
        gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, self.trainable_variables), 5.0)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.norm.update_state(norm)
        return {"loss": loss, "norm": self.norm.result()}


def main():
    keras.utils.set_random_seed(41)
    path = os.path.join(tempfile.mkdtemp(prefix="wool-"), "fibres.tfrecord")
    write_records(path, np.random.default_rng(41))
    inputs = keras.Input((SIDE, SIDE, 1))
    x = inputs
    for width in (24, 48, 96, 128):
        x = keras.layers.Conv2D(width, 3, strides=2, padding="same", activation="relu")(x)
        x = keras.layers.Conv2D(width, 3, padding="same", activation="relu")(x)
    x = keras.layers.GlobalAveragePooling2D()(x)
    model = Gauge(inputs=inputs, outputs=keras.layers.Dense(1)(x), name="wool")
    model.compile(optimizer=keras.optimizers.Adam(3e-4), loss="mse")
    print(f"{PICTURES} pictures in {path}", flush=True)
    model.fit(pictures(path), epochs=EPOCHS)


if __name__ == "__main__":
    main()
