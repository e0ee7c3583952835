"""Named arrays against Python's safetensors package, both ways, over hundreds of random files.

    HEADWAY_SAFETENSORS_TOOL=build/release/safetensors_tool python tests/interop/safetensors_test.py
"""
import os
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import safetensors
from safetensors.numpy import load_file, save_file

TOOL = os.environ.get("HEADWAY_SAFETENSORS_TOOL")
FILES = 150
TYPES = [np.uint8, np.uint16, np.int32, np.int64, np.float32, np.float64, np.bool_]
SHAPES = [(), (), (0,), (1,), (5,), (3, 0, 2), (2, 3), (7, 1, 3), (2, 1, 2, 1, 2, 1)]
NAMES = ["", "w", "conv1/kernel:0", "größe 猫 🐈", '"quoted"\\', "line\nfeed\t\0", "__metadata", "headway.xxh3"]
OURS = {"headway.xxh3", "headway.format"}


def tool(*args, text="", fails=False):
    done = subprocess.run([TOOL, *args], input=text, capture_output=True, text=True, check=False)
    if (done.returncode != 0) != fails:
        raise AssertionError(f"{args}: {done.stderr}")
    return done.stderr if fails else done.stdout.splitlines()


def hexed(data):
    return "x" + (data.encode() if isinstance(data, str) else data).hex()


def lines_of(tensors, metadata):
    for name, array in tensors.items():
        shape = "x".join(map(str, array.shape)) or "scalar"
        yield f"tensor {hexed(name)} {array.dtype.name} {shape} {hexed(array.tobytes())}"
    for key, value in metadata.items():
        yield f"metadata {hexed(key)} {hexed(value)}"


def random_array(rng):
    dtype, shape = rng.choice(TYPES), rng.choice(SHAPES)
    count = int(np.prod(shape))
    raw = np.frombuffer(rng.randbytes(count * np.dtype(dtype).itemsize), np.uint8)
    values = raw % 2 == 1 if dtype is np.bool_ else raw.view(dtype)
    return np.ascontiguousarray(values).reshape(shape)


def random_content(rng):
    names = rng.sample(NAMES + [f"layer{i}/bias" for i in range(20)], rng.choice([0, 1, 3, 8, 20]))
    keys = rng.sample(["epoch", "", "größe", '{"json": "\\n"}'], rng.randrange(4))
    return {name: random_array(rng) for name in names}, {key: rng.choice(NAMES) for key in keys}


class SafetensorsFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "a.safetensors")
        self.rng = random.Random(self.id())

    def assert_same(self, read, tensors):
        self.assertEqual(set(read), set(tensors))
        for name, array in tensors.items():
            self.assertEqual((read[name].dtype, read[name].shape), (array.dtype, array.shape), name)
            self.assertEqual(read[name].tobytes(), array.tobytes(), name)

    def write_here(self, tensors, metadata):
        tool("write", self.path, text="".join(l + "\n" for l in lines_of(tensors, metadata)))

    def test_written_here_read_there(self):
        for _ in range(FILES):
            tensors, metadata = random_content(self.rng)
            self.write_here(tensors, metadata)
            self.assert_same(load_file(self.path), tensors)
            with safetensors.safe_open(self.path, "np") as file:
                found = file.metadata()
            self.assertEqual({k: v for k, v in found.items() if k not in OURS}, metadata)

    def test_written_there_read_here(self):
        for _ in range(FILES):
            tensors, metadata = random_content(self.rng)
            save_file(tensors, self.path, metadata or None)
            self.assertEqual(sorted(tool("dump", self.path)), sorted(lines_of(tensors, metadata)))

    def test_order_is_kept_here(self):
        for _ in range(30):
            tensors, _ = random_content(self.rng)
            self.write_here(tensors, {})
            ours = [line for line in tool("dump", self.path) if line.startswith("tensor")]
            self.assertEqual(ours, list(lines_of(tensors, {})))

    def test_a_stale_hash_is_refused_with_the_remedy(self):
        self.write_here({"w": np.ones(3, np.float32)}, {})
        with safetensors.safe_open(self.path, "np") as file:
            metadata = file.metadata()
        save_file({"w": np.zeros(3, np.float32)}, self.path, metadata)
        self.assertIn('remove "headway.xxh3"', tool("dump", self.path, fails=True))
        save_file({"w": np.zeros(3, np.float32)}, self.path)
        self.assertEqual(len(tool("dump", self.path)), 1)

    def test_types_without_a_place_here_are_named(self):
        for dtype, name in ((np.float16, "F16"), (np.int8, "I8"), (np.uint32, "U32")):
            save_file({"w": np.zeros(3, dtype)}, self.path)
            self.assertIn(f"tensor 'w' is of type {name}", tool("dump", self.path, fails=True))


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.access(sys.argv[1], os.X_OK):
        TOOL = sys.argv.pop(1)
    if not TOOL:
        sys.exit("HEADWAY_SAFETENSORS_TOOL must name the safetensors_tool program")
    unittest.main(verbosity=2)
