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

    def make_files(self, folder, python):
        if self.pictures:
            subprocess.run([python, "-c", PICTURES, self.pictures], cwd=folder, check=True)

    def text(self, code):
        for old, new in self.replace:
            if old not in code:
                raise SystemExit(f"the seed no longer contains {old!r}")
            code = code.replace(old, new)
        return self.prelude + code


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
# 002-2 uses a function of 002-1. There it gives images alone; here it has to give labels too.
FEED = """
import tensorflow as tf
image_paths = [f"path/to/image{i}.jpg" for i in range(1000)]
def create_dataset(paths, batch_size):
    def load(path):
        image = tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), channels=3), [224, 224]) / 255.0
        return image, tf.one_hot(tf.strings.to_hash_bucket_fast(path, 1000), 1000)
    return tf.data.Dataset.from_tensor_slices(paths).map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(batch_size).prefetch(2)
"""

SUPPLIES = {
    "000-1": Supply(pictures="data/image_{}.png"),
    "000-2": Supply(pictures="data/image_{}.png",
                    replace=(("channels=3)", "channels=3, expand_animations=False)"),)),
    "000-3": Supply(prelude=RECORDS),
    "002-1": Supply(pictures="path/to/image{}.jpg", replace=(PATHS,)),
    "002-2": Supply(pictures="path/to/image{}.jpg", prelude=FEED),
    "003-1": Supply(prelude=DIGITS),
    "003-2": Supply(prelude=DIGITS + SMALL_MODEL),
    "003-3": Supply(prelude=DIGITS),
}

CRASHED = ("crashed", [], ["crashed"])
DONE = ("healthy", [], ["finished", "healthy"])
# (expected, also accepted, verdicts) within 30 s, as measured: docs/seeds.md says why.
EXPECTED = {
    "000-1": ("source-never-yields", [], ["stuck"]),
    "000-1.supplied": ("python-generator", ["input-bound"], ["slow"]),
    "000-2": CRASHED,
    "000-2.supplied": ("healthy", ["shuffle-fill"], ["healthy", "slow"]),
    "000-3": CRASHED,
    "000-3.supplied": ("healthy", ["shuffle-fill"], ["healthy", "slow"]),
    "001-1": ("healthy", ["preprocessing-before-fit", "array-as-graph-constant", "host-memory-pressure"],
              ["not-started", "healthy", "slow", "finished"]),
    "001-2": ("model-too-large", [], ["crashed"]),
    "001-3": DONE,
    "002-1": CRASHED,
    "002-1.supplied": DONE,
    "002-2": CRASHED,
    "002-2.supplied": ("healthy", [], ["healthy"]),
    "002-3": DONE,
    "003-1": CRASHED,
    "003-1.supplied": ("batch-too-small", [], ["slow"]),
    "003-2": CRASHED,
    "003-2.supplied": DONE,
    "003-3": CRASHED,
    "003-3.supplied": DONE,
    "004-1": ("healthy", ["sequence-on-main-thread", "input-bound"], ["finished", "slow"]),
    "004-2": DONE,
    "004-3": DONE,
}
