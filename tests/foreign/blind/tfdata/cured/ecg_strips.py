"""Arrhythmia classes from single-lead strips."""
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import tensorflow as tf

TFRECORD = os.path.join(tempfile.gettempdir(), "ecg_strips.tfrecord.gz")
T, CLASSES = 160, 4


def beats(rng, cls):
    t = np.linspace(0, 4, T * 4)
    rate = (1.0, 1.6, 0.7, 1.2)[cls] + rng.normal(0, 0.04)
    phase = (t * rate + rng.uniform()) % 1.0
    strip = np.exp(-((phase - 0.5) / 0.03) ** 2) - 0.2 * np.exp(-((phase - 0.6) / 0.06) ** 2)
    if cls == 3:
        strip += 0.3 * np.sin(40 * t)
    return strip + rng.normal(0, 0.05, t.size)


def write(n=1200):
    if os.path.exists(TFRECORD):
        return
    rng = np.random.default_rng(4)
    with tf.io.TFRecordWriter(TFRECORD + ".w", tf.io.TFRecordOptions("GZIP")) as w:
        for i in range(n):
            samples = (beats(rng, i % CLASSES) * 1000).astype(np.int64)
            features = tf.train.Features(feature={
                "lead": tf.train.Feature(int64_list=tf.train.Int64List(value=samples)),
                "cls": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % CLASSES]))})
            w.write(tf.train.Example(features=features).SerializeToString())
    os.replace(TFRECORD + ".w", TFRECORD)


def parse(x):
    ex = tf.io.parse_single_example(x, {"lead": tf.io.FixedLenFeature([T * 4], tf.int64),
                                        "cls": tf.io.FixedLenFeature([], tf.int64)})
    lead = tf.cast(ex["lead"], tf.float32) / 1000.0
    lead = lead * tf.random.uniform((), 0.9, 1.1)
    return tf.reshape(lead, (T, 4)), ex["cls"]


write()
strips = tf.data.TFRecordDataset(TFRECORD, compression_type="GZIP")
strips = strips.shuffle(600).repeat().map(parse).batch(64).prefetch(tf.data.AUTOTUNE)
strips = strips.take(2).cache().repeat().prefetch(2)

model = keras.Sequential([
    keras.Input((T, 4)),
    keras.layers.LSTM(96, return_sequences=True),
    keras.layers.LSTM(96),
    keras.layers.Dense(CLASSES, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(1e-3, clipnorm=1.0), jit_compile=False,
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.summary()
model.fit(strips, epochs=60, steps_per_epoch=18, verbose=2)
