# python: tensorflow
# expected: source-never-yields
# verdict: stuck
# seconds: 30
# where: t - before / run.clear / run.append / len(run) / for t, heave / float(row / for row in / while True
# Why: a run ends where the clock moves on by anything but 0.1, and differences of times read from text are never
# exactly that: no run gets to the length of a window. from_generator's thread reads the files over and over at a full
# core, the loop waits for its first batch in iterator_get_next.
import collections
import csv
import logging
import math
import pathlib
import random
import tempfile

import tensorflow as tf

logging.basicConfig(format="{asctime} {levelname:<5} {message}", style="{", level=logging.INFO)
LOG = logging.getLogger(__name__)

PERIOD = 0.1
WINDOW = 256
AHEAD = 20


class BuoyArchive:
    """One csv file per buoy: seconds since midnight, heave in metres. Ten readings a second, with gaps."""

    def __init__(self, root, buoys=4, readings=40_000):
        self.root = pathlib.Path(root)
        self.root.mkdir(exist_ok=True)
        for b in range(buoys):
            path = self.root / f"buoy_{b}.csv"
            if not path.exists():
                self._record(path, readings, random.Random(b))
        self.files = sorted(self.root.glob("buoy_*.csv"))

    @staticmethod
    def _record(path, readings, rnd):
        start, swell = rnd.uniform(0, 3600), rnd.uniform(6, 11)
        with path.open("w", newline="") as out:
            rows = csv.writer(out)
            rows.writerow(["t", "heave"])
            for i in range(readings):
                if i % 9000 == 0:
                    start += rnd.uniform(5, 30)
                t = start + i / 10
                rows.writerow([f"{t:.3f}", f"{math.sin(6.283 * t / swell) + rnd.gauss(0, 0.1):.3f}"])

    def readings(self, path):
        with path.open(newline="") as lines:
            for row in csv.DictReader(lines):
                yield float(row["t"]), float(row["heave"])

    def windows(self):
        """Runs without a gap, and the heave that came after them."""
        while True:
            random.shuffle(self.files)
            for path in self.files:
                run, before = collections.deque(maxlen=WINDOW + AHEAD), None
                for t, heave in self.readings(path):
                    if before is not None and t - before != PERIOD:
                        run.clear()
                    run.append(heave)
                    before = t
                    if len(run) == run.maxlen:
                        values = list(run)
                        yield values[:WINDOW], values[-1]


class Forecaster(tf.Module):
    def __init__(self, width=128):
        super().__init__()
        init = tf.random.Generator.from_seed(1)
        self.w1 = tf.Variable(init.normal((WINDOW, width), stddev=WINDOW ** -0.5))
        self.b1 = tf.Variable(tf.zeros(width))
        self.w2 = tf.Variable(init.normal((width, 1), stddev=width ** -0.5))

    @tf.function(input_signature=[tf.TensorSpec((None, WINDOW)), tf.TensorSpec((None,))])
    def learn(self, x, y):
        with tf.GradientTape() as tape:
            guess = tf.squeeze(tf.nn.gelu(x @ self.w1 + self.b1) @ self.w2, 1)
            loss = tf.reduce_mean(tf.square(guess - y))
        for v, g in zip(self.trainable_variables, tape.gradient(loss, self.trainable_variables)):
            v.assign_sub(0.01 * g)
        return loss


def main(steps=100_000, batch=64):
    archive = BuoyArchive(pathlib.Path(tempfile.gettempdir()) / "buoy-archive")
    LOG.info("%d buoys in %s", len(archive.files), archive.root)
    data = tf.data.Dataset.from_generator(
        archive.windows, output_signature=(tf.TensorSpec((WINDOW,)), tf.TensorSpec(())))
    model = Forecaster()
    LOG.info("training for %d steps", steps)
    for step, (x, y) in enumerate(data.batch(batch).prefetch(2).take(steps), 1):
        loss = model.learn(x, y)
        if step % 25 == 0:
            LOG.info("step=%d mse=%.4f", step, loss)


if __name__ == "__main__":
    main()
