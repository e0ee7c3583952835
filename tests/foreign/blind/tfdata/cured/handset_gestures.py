import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import tensorflow as tf

GESTURES = ["circle", "swipe", "shake", "tap"]
SOURCE = os.path.join(tempfile.gettempdir(), "handset_gestures.txt")
MAX_LEN = 320


def record_gestures(n=500):
    if os.path.exists(SOURCE):
        return
    rng = np.random.default_rng(17)
    lines = []
    for _ in range(n):
        g = int(rng.integers(len(GESTURES)))
        m = int(rng.integers(180, MAX_LEN))
        t = np.linspace(0, 6, m)[:, None]
        xyz = np.sin((g + 1) * t + np.arange(3)) * (1 + g) + 0.2 * rng.standard_normal((m, 3))
        lines.append(GESTURES[g] + "|" + ";".join("%.4f,%.4f,%.4f" % tuple(row) for row in xyz))
    with open(SOURCE, "w") as f:
        f.write("\n".join(lines))


class GestureNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = keras.layers.Conv1D(12, 7, strides=4, activation="relu")
        self.pool = keras.layers.GlobalAveragePooling1D()
        self.head = keras.layers.Dense(len(GESTURES))
        self.tracker = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.head(self.pool(self.conv(x)))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}

    @property
    def metrics(self):
        return [self.tracker]


names = tf.constant(GESTURES)


def parse(line):
    fields = tf.strings.split(line, "|")
    gesture = tf.argmax(tf.cast(tf.equal(names, fields[0]), tf.int32))
    rows = tf.strings.split(fields[1], ";")
    values = tf.strings.to_number(tf.strings.split(rows, ",").flat_values)
    return tf.reshape(values, (-1, 3)), gesture


def main():
    record_gestures()
    ds = (tf.data.TextLineDataset(SOURCE)
          .shuffle(500, seed=4, reshuffle_each_iteration=True)
          .repeat()
          .map(parse, num_parallel_calls=2)
          .padded_batch(32, padded_shapes=([MAX_LEN, 3], []))
          .prefetch(1))
    ds = ds.take(2).cache().repeat().prefetch(2)
    net = GestureNet()
    net.build((None, MAX_LEN, 3))
    net.compile(optimizer=keras.optimizers.Adam(2e-3))
    net.fit(ds, epochs=100, steps_per_epoch=250, verbose=2)
    net.save_weights(os.path.join(tempfile.gettempdir(), "handset_gestures.weights.h5"))


if __name__ == "__main__":
    main()
