"""Records and tf.Examples against the real TensorFlow, both ways, over thousands of random ones.

    HEADWAY_RECORDS_TOOL=build/release/records_tool python tests/interop/records_test.py
"""
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

TOOL = os.environ.get("HEADWAY_RECORDS_TOOL")
EXAMPLES = 1500
COMPRESSIONS = {"none": "", "gzip": "GZIP", "zlib": "ZLIB"}
KINDS = {"i": tf.int64, "f": tf.float32, "s": tf.string}


def tool(*args, text=""):
    done = subprocess.run([TOOL, *args], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{args}: {done.stderr}")
    return done.stdout.splitlines()


def random_bytes(rng):
    text = rng.choice(["", "plain", "größe 猫 🐈", "\0\n\r\"'", "x" * rng.randrange(300)])
    return text.encode() if rng.random() < 0.6 else rng.randbytes(rng.choice([0, 1, 7, 40, 2000]))


def random_value(kind, rng):
    if kind == "i":
        return rng.choice([0, 1, -1, 127, 128, -(2**63), 2**63 - 1, rng.getrandbits(64) - 2**63])
    if kind == "f":
        special = [0.0, -0.0, 1.5, float("inf"), float("-inf"), float("nan"), 1e-45]
        number = rng.choice(special + [rng.gauss(0, 1e3)])
        return struct.unpack("<f", struct.pack("<f", number))[0]
    return random_bytes(rng)


def random_features(rng):
    """{name: (kind, values)}"""
    names = ["", "label", "image/encoded", "ключ", "a", "b", "c"] + [f"f{i}" for i in range(30)]
    chosen = rng.sample(names, rng.choice([0, 1, 3, 7, 20]))
    features = {}
    for name in chosen:
        kind = rng.choice("ifs")
        count = rng.choice([0, 1, 1, 1, 2, 5, 50 if kind == "s" else 1000])
        features[name] = (kind, [random_value(kind, rng) for _ in range(count)])
    return features


def to_example(features):
    example = tf.train.Example()
    for name, (kind, values) in features.items():
        feature = example.features.feature[name]
        # SetInParent keeps the kind of an empty list.
        chosen = {"i": feature.int64_list, "f": feature.float_list, "s": feature.bytes_list}[kind]
        chosen.SetInParent()
        chosen.value.extend(values)
    return example


def shown(kind, value):
    if kind == "i":
        return str(value)
    if kind == "f":
        return f"{struct.unpack('<I', struct.pack('<f', value))[0]:08x}"
    return value.hex()


def feature_text(name, kind, values):
    return f"{name.encode().hex()}:{kind}:{len(values)}:" + ",".join(shown(kind, v) for v in values)


def line_of(features):
    by_bytes = sorted(features.items(), key=lambda item: item[0].encode())
    return " ".join(feature_text(name, kind, values) for name, (kind, values) in by_bytes)


def line_of_example(example):
    kinds = {"int64_list": "i", "float_list": "f", "bytes_list": "s"}
    features = {}
    for name, feature in example.features.feature.items():
        which = feature.WhichOneof("kind")
        features[name] = (kinds[which], list(getattr(feature, which).value))
    return line_of(features)


class Records(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "a.tfrecord")
        self.rng = random.Random(self.id())

    def write_with_tensorflow(self, examples, compression):
        with tf.io.TFRecordWriter(self.path, COMPRESSIONS[compression]) as writer:
            for example in examples:
                writer.write(example.SerializeToString())

    def read_with_tensorflow(self, compression):
        records = tf.data.TFRecordDataset(self.path, COMPRESSIONS[compression])
        return [tf.train.Example.FromString(r) for r in records.as_numpy_iterator()]

    def test_written_there_read_here(self):
        for compression in COMPRESSIONS:
            all_features = [random_features(self.rng) for _ in range(EXAMPLES)]
            self.write_with_tensorflow([to_example(f) for f in all_features], compression)
            self.assertEqual(tool("dump", self.path), [line_of(f) for f in all_features], compression)

    def test_written_here_read_there(self):
        for compression in COMPRESSIONS:
            lines = [line_of(random_features(self.rng)) for _ in range(EXAMPLES)]
            tool("write", self.path, compression, text="".join(line + "\n" for line in lines))
            read = [line_of_example(e) for e in self.read_with_tensorflow(compression)]
            self.assertEqual(read, lines, compression)

    def test_appended_here_read_there(self):
        for compression in ("none", "gzip"):
            lines = [line_of(random_features(self.rng)) for _ in range(20)]
            for i, chunk in enumerate((lines[:7], lines[7:15], lines[15:])):
                append = ["append"] if i else []
                tool("write", self.path, compression, *append, text="".join(l + "\n" for l in chunk))
            read = [line_of_example(e) for e in self.read_with_tensorflow(compression)]
            self.assertEqual(read, lines, compression)
            self.assertEqual(tool("dump", self.path), lines, compression)

    def test_parsing_agrees_with_parse_single_example(self):
        seen = {"error": 0, "parsed": 0}
        for _ in range(150):
            specs = self.random_specs()
            examples = [to_example(self.features_near(specs)) for _ in range(12)]
            self.write_with_tensorflow(examples, "none")
            ours = tool("parse", self.path, *[self.spec_text(s) for s in specs])
            theirs = [self.parsed_by_tensorflow(specs, e) for e in examples]
            self.assertEqual(ours, theirs, specs)
            for line in theirs:
                seen["error" if line == "error" else "parsed"] += 1
        self.assertGreater(min(seen.values()), 100, seen)

    def random_specs(self):
        """[(name, kind, shape or "*", default or None)]"""
        specs = []
        for name in self.rng.sample(["a", "b", "c", "größe"], self.rng.randrange(1, 4)):
            kind = self.rng.choice("ifs")
            shape = self.rng.choice(["*", (), (), (1,), (3,), (2, 2), (0,)])
            # TensorFlow takes a default without values for no default, so (0,) gets none.
            without = shape in ("*", (0,)) or self.rng.random() < 0.5
            default = None if without else random_value(kind, self.rng)
            specs.append((name, kind, shape, default))
        return specs

    def features_near(self, specs):
        """Mostly what is asked for, sometimes missing, of another kind or number, or without a list."""
        features = random_features(self.rng)
        for name, kind, shape, _ in specs:
            features.pop(name, None)
            if self.rng.random() < 0.2:
                continue
            if self.rng.random() < 0.07:
                kind = self.rng.choice("ifs")
            count = self.rng.randrange(5)
            if shape != "*" and self.rng.random() < 0.93:
                count = 1
                for dim in shape:
                    count *= dim
            features[name] = (kind, [random_value(kind, self.rng) for _ in range(count)])
        return features

    def spec_text(self, spec):
        name, kind, shape, default = spec
        text = f"{name.encode().hex()}:{kind}:" + ("*" if shape == "*" else "x".join(map(str, shape)))
        return text if default is None else f"{text}:{shown(kind, default)}"

    def parsed_by_tensorflow(self, specs, example):
        wanted = {}
        for name, kind, shape, default in specs:
            if shape == "*":
                wanted[name] = tf.io.VarLenFeature(KINDS[kind])
            else:
                # Through numpy: TensorFlow's cache of constants mixes up 0.0 and -0.0.
                full = None if default is None else np.full(shape, default, KINDS[kind].as_numpy_dtype)
                wanted[name] = tf.io.FixedLenFeature(shape, KINDS[kind], full)
        try:
            parsed = tf.io.parse_single_example(example.SerializeToString(), wanted)
        except (tf.errors.InvalidArgumentError, ValueError):
            return "error"
        lines = []
        for name, kind, shape, _ in specs:
            values = parsed[name].values if shape == "*" else tf.reshape(parsed[name], [-1])
            lines.append(feature_text(name, kind, list(values.numpy())))
        return " ".join(lines)


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.access(sys.argv[1], os.X_OK):
        TOOL = sys.argv.pop(1)
    if not TOOL:
        sys.exit("HEADWAY_RECORDS_TOOL must name the records_tool program")
    unittest.main(verbosity=2)
