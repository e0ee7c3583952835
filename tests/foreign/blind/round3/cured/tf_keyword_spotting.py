# python: tensorflow
# expected: source-never-yields [also accepted: input-bound, epoch-never-ends, loop-never-ends]
# verdict: stuck|not-started
# seconds: 35
# where: .filter( / is_wanted / model.fit(
# Why: the label table has the words with their line ends, so the filter for the wanted words drops every clip; as it stands behind repeat() the
# pipeline goes on looking for ever and the first batch never comes.
import os
import tempfile
import numpy as np
import tensorflow as tf
from tensorflow import keras

WORDS = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
WANTED = ["up", "down", "left", "right", "stop"]

folder = tempfile.mkdtemp(prefix="clips_")
rng = np.random.default_rng(5)
label_file = os.path.join(folder, "labels.txt")
labels = rng.integers(0, len(WORDS), 3000)
with open(label_file, "w") as f:
    for k in labels:
        f.write(WORDS[k] + "\r\n")
t = np.arange(2000) / 4000.0
waves = np.sin(2 * np.pi * (120 + 60 * labels[:, None]) * t).astype("float32")
waves += 0.3 * rng.standard_normal(waves.shape).astype("float32")

with open(label_file, newline="") as f:
    names = f.read().split()

wanted = tf.constant(WANTED)


def is_wanted(wave, name):
    return tf.reduce_any(tf.equal(name, wanted))


def to_features(wave, name):
    spec = tf.abs(tf.signal.stft(wave, frame_length=128, frame_step=64))
    target = tf.argmax(tf.cast(tf.equal(name, wanted), tf.int32))
    return tf.math.log(spec + 1e-6)[..., None], target


clips = (tf.data.Dataset.from_tensor_slices((waves, names))
         .shuffle(1000)
         .repeat()
         .filter(is_wanted)
         .map(to_features, num_parallel_calls=2)
         .batch(32)
         .prefetch(2))

model = keras.Sequential([
    keras.Input((30, 65, 1)),
    keras.layers.Conv2D(16, 3, activation="relu"),
    keras.layers.MaxPooling2D(),
    keras.layers.Conv2D(32, 3, activation="relu"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(len(WANTED)),
])
model.compile(optimizer="adam", metrics=["accuracy"],
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
print(f"{len(names)} clips, {len(WANTED)} words", flush=True)


class Log(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 10 == 0:
            print(f"batch {batch} loss {logs['loss']:.4f}", flush=True)


model.fit(clips, steps_per_epoch=100, epochs=10, verbose=0, callbacks=[Log()])
