# python: tensorflow
# expected: sequence-on-main-thread [also accepted: input-bound, decode-saturated, python-generator, no-prefetch, hot-line]
# verdict: slow
# seconds: 40
# where: Image.open / .resize( / ImageOps
# Why: A PyDataset decodes and resizes large JPEGs again in every epoch with the default workers=1, so Keras makes each batch on the training thread and the model waits for it.
import io
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from PIL import Image, ImageOps

SIDE = 72
BATCH = 16


def photograph(rng, label):
    h, w = 720, 960
    base = rng.integers(0, 80, size=(h // 20, w // 20, 3), dtype=np.uint8)
    base[..., 1] += 60
    for _ in range(label * 3 + 2):
        y, x = rng.integers(0, h // 20 - 4), rng.integers(0, w // 20 - 4)
        base[y:y + 3, x:x + 3] = (140, 90, 30)
    image = Image.fromarray(base).resize((w, h), Image.BICUBIC)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=90)
    return out.getvalue()


class LeafPhotos(keras.utils.PyDataset):
    def __init__(self, blobs, labels, **kwargs):
        super().__init__(**kwargs)
        self.blobs = blobs
        self.labels = labels
        self.order = np.arange(len(blobs))

    def __len__(self):
        return len(self.blobs) // BATCH

    def load(self, i):
        image = Image.open(io.BytesIO(self.blobs[i])).convert("RGB")
        image = ImageOps.autocontrast(image)
        image = image.resize((SIDE, SIDE), Image.LANCZOS)
        return np.asarray(image, dtype=np.float32) / 255.0

    def __getitem__(self, index):
        chosen = self.order[index * BATCH:(index + 1) * BATCH]
        x = np.stack([self.load(i) for i in chosen])
        if np.random.rand() < 0.5:
            x = x[:, :, ::-1]
        return x, self.labels[chosen]

    def on_epoch_end(self):
        np.random.shuffle(self.order)


class Report(keras.callbacks.Callback):
    seen = 0

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.seen % 4 == 0:
            print(f"step {self.seen} loss {logs['loss']:.4f}", flush=True)


def build():
    return keras.Sequential([
        keras.Input((SIDE, SIDE, 3)),
        keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
        keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(5, activation="softmax"),
    ])


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, size=64)
    blobs = [photograph(rng, int(l)) for l in labels]
    train = LeafPhotos(blobs, labels)
    model = build()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, epochs=500, verbose=0, callbacks=[Report()])
