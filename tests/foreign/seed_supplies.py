"""What each seed example lacks, made before it, and what the outside eye should say of it.

A prelude is our own code that defines the missing names; files are made in the folder the example runs in.
"""
import dataclasses
import resource
import subprocess

# Each example may use this much address space. It keeps 001-2 (40 GB of weights) from taking the machine with it; what a
# container or a job scheduler does as well.
MEMORY = 14 << 30


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


PICTURES = """
import pathlib, sys
import numpy as np
from PIL import Image
random = np.random.default_rng(7)
for i in range(1000):
    path = pathlib.Path(sys.argv[1].format(i))
    path.parent.mkdir(parents=True, exist_ok=True)
    coarse = random.integers(0, 256, (15, 20, 3), dtype=np.uint8)
    Image.fromarray(coarse).resize((320, 240), Image.BICUBIC).save(path)
"""


@dataclasses.dataclass
class Supply:
    prelude: str = ""
    pictures: str = ""  # a thousand pictures with such names
    replace: tuple = ()  # (piece of the example, what stands there instead)
    after: str = ""  # an earlier example whose code comes first

    def make_files(self, folder, python):
        if self.pictures:
            subprocess.run([python, "-c", PICTURES, self.pictures], cwd=folder, check=True)

    def text(self, code, earlier):
        for old, new in self.replace:
            if old not in code:
                raise SystemExit(f"the seed no longer contains {old!r}")
            code = code.replace(old, new)
        return self.prelude + (earlier[self.after] if self.after else "") + code


DIGITS = """
import numpy as np
x_train = np.random.rand(60000, 784).astype("float32")
y_train = np.eye(10, dtype="float32")[np.random.randint(0, 10, 60000)]
"""
SMALL_MODEL = """
import tensorflow as tf
model = tf.keras.models.Sequential([tf.keras.layers.Dense(128, activation="relu"), tf.keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "categorical_crossentropy")
"""
RECORDS = """
import io, numpy as np, tensorflow as tf
from PIL import Image
def _record(i):
    out = io.BytesIO()
    Image.fromarray(np.random.randint(0, 256, (15, 20, 3), dtype=np.uint8)).resize((320, 240)).save(out, "JPEG")
    feature = {"image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[out.getvalue()])),
               "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 2]))}
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
with tf.io.TFRecordWriter("data.tfrecord") as _writer:
    for _i in range(1000):
        _writer.write(_record(_i))
"""
PATHS = ('["path/to/image1.jpg", "path/to/image2.jpg", ...]', '[f"path/to/image{i}.jpg" for i in range(1000)]')
WITH_LABELS = ("dataset = create_dataset(image_paths, batch_size)",
               "dataset = create_dataset(image_paths, batch_size).map(lambda x: (x, tf.one_hot(tf.zeros(tf.shape(x)[0], tf.int32), 1000)))")

SUPPLIES = {
    "000-1": Supply(pictures="data/image_{}.png"),
    "000-2": Supply(pictures="data/image_{}.png",
                    replace=(("channels=3)", "channels=3, expand_animations=False)"),)),
    "000-3": Supply(prelude=RECORDS),
    "002-1": Supply(pictures="path/to/image{}.jpg", replace=(PATHS,)),
    "002-2": Supply(pictures="path/to/image{}.jpg", replace=(WITH_LABELS,)),
    "003-1": Supply(prelude=DIGITS),
    "003-2": Supply(prelude=DIGITS + SMALL_MODEL),
    "003-3": Supply(prelude=DIGITS),
}

# (expected, also accepted, verdicts), as measured: docs/seeds.md says why.
EXPECTED = {}
