# python: tensorflow
# expected: python-generator [also accepted: input-bound]
# verdict: slow
# seconds: 30
# where: np.fft / np.hanning / np.convolve / np.percentile / np.log1p / for ping in / stft
# Why: from_generator computes each spectrogram on its one Python thread; map, batch and prefetch behind it are cheap,
# and the model needs some milliseconds for what the generator needs a third of a second for.
from __future__ import annotations

import argparse
import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tensorflow as tf

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("sonar")

FRAME, HOP = 1024, 128


@dataclass
class Survey:
    root: Path
    pings: int = 64
    length: int = 48_000

    def ensure(self):
        self.root.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(7)
        for k in range(self.pings):
            target = self.root / f"ping{k:03d}.npy"
            if not target.exists():
                np.save(target, rng.normal(size=self.length).astype("float32"))
        return self

    def __iter__(self):
        rng = np.random.default_rng()
        files = sorted(self.root.glob("ping*.npy"))
        while True:
            for ping in rng.permutation(len(files)):
                wave = np.load(files[ping])
                yield stft(denoise(wave)), np.float32(ping / len(files))


def denoise(wave):
    kernel = np.hanning(301)
    smooth = np.convolve(wave, kernel / kernel.sum(), mode="same")
    return wave - smooth


def stft(wave):
    window = np.hanning(FRAME)
    columns = []
    for start in range(0, len(wave) - FRAME, HOP):
        columns.append(np.abs(np.fft.rfft(wave[start:start + FRAME] * window)))
    power = np.log1p(np.stack(columns))
    low, high = np.percentile(power, (2, 98))
    return np.clip((power - low) / (high - low), 0, 1).astype("float32")


def scale_down(spec, depth):
    spec = tf.image.resize(spec[..., tf.newaxis], (64, 64))
    return spec, depth


def build():
    inputs = tf.keras.Input((64, 64, 1))
    h = tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu")(inputs)
    h = tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu")(h)
    h = tf.keras.layers.GlobalMaxPooling2D()(h)
    outputs = tf.keras.layers.Dense(1)(h)
    return tf.keras.Model(inputs, outputs)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--root", type=Path, default=Path(tempfile.gettempdir()) / "sonar-survey")
    ap.add_argument("--epochs", type=int, default=50)
    ap.add_argument("--batch", type=int, default=16)
    args = ap.parse_args()

    survey = Survey(args.root).ensure()
    log.info("%d pings under %s", survey.pings, survey.root)
    signature = (tf.TensorSpec((None, FRAME // 2 + 1), tf.float32), tf.TensorSpec((), tf.float32))
    ds = (tf.data.Dataset.from_generator(lambda: iter(survey), output_signature=signature)
          .map(scale_down, num_parallel_calls=tf.data.AUTOTUNE)
          .batch(args.batch)
          .prefetch(tf.data.AUTOTUNE))
    net = build()
    net.compile(optimizer=tf.keras.optimizers.Adam(3e-4), loss="mae")
    net.fit(ds, steps_per_epoch=100, epochs=args.epochs)
