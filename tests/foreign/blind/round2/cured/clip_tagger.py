# python: tensorflow
# expected: sequence-on-main-thread [also accepted: input-bound, no-prefetch, hot-line]
# verdict: slow
# seconds: 35
# where: __getitem__ / log_mel / np.fft.rfft
# Why: a keras PyDataset with the default workers makes one batch of spectrograms at a time on the training thread while the model waits; nobody reads that workers=1 means "no helper".
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
from keras import layers

RATE, SECONDS, FRAME, HOP, MELS = 16000, 1, 1024, 64, 64
rng = np.random.default_rng(3)


def mel_matrix():
    def mel(f):
        return 2595 * np.log10(1 + f / 700)
    freqs = np.linspace(0, RATE / 2, FRAME // 2 + 1)
    edges = np.linspace(mel(40), mel(RATE / 2), MELS + 2)
    m = mel(freqs)[None, :]
    up = (m - edges[:-2, None]) / (edges[1:-1, None] - edges[:-2, None])
    down = (edges[2:, None] - m) / (edges[2:, None] - edges[1:-1, None])
    return np.clip(np.minimum(up, down), 0, None).T.astype("float32")


MEL = mel_matrix()
WINDOW = np.hanning(FRAME).astype("float32")


def make_clips(n):
    t = np.arange(RATE * SECONDS) / RATE
    labels = rng.integers(0, 8, n)
    pitch = 110 * 2 ** (labels / 3) * rng.uniform(0.97, 1.03, n)
    clips = np.sin(2 * np.pi * pitch[:, None] * t) + 0.4 * rng.normal(size=(n, len(t)))
    return (clips * 8000).astype("int16"), labels


def log_mel(clip):
    wave = clip.astype("float32") / 32768
    frames = np.lib.stride_tricks.sliding_window_view(wave, FRAME)[::HOP]
    spec = np.abs(np.fft.rfft(frames * WINDOW, axis=1)) ** 2
    return np.log(spec @ MEL + 1e-6)


class Clips(keras.utils.PyDataset):
    def __init__(self, clips, labels, batch_size, **kwargs):
        super().__init__(**kwargs)
        self.clips, self.labels, self.batch_size = clips, labels, batch_size
        self.order = np.arange(len(clips))
        self.mels = np.stack([log_mel(c) for c in clips]).astype("float32")[..., None]

    def __len__(self):
        return len(self.clips) // self.batch_size

    def __getitem__(self, i):
        take = self.order[i * self.batch_size:(i + 1) * self.batch_size]
        x = self.mels[take]
        return x, self.labels[take]

    def on_epoch_end(self):
        rng.shuffle(self.order)


def build(frames):
    return keras.Sequential([
        keras.Input((frames, MELS, 1)),
        layers.Conv2D(8, 5, strides=4, activation="relu"),
        layers.Conv2D(16, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(8, activation="softmax")])


def main():
    clips, labels = make_clips(320)
    data = Clips(clips, labels, 32)
    model = build(log_mel(clips[0]).shape[0])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(data, epochs=300)


if __name__ == "__main__":
    main()
