"""Event files against the real TensorBoard: it reads back exactly what was written.

    HEADWAY_EVENTS_TOOL=build/release/tests/interop/events_tool python tests/interop/events_test.py
"""
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

TOOL = os.environ.get("HEADWAY_EVENTS_TOOL")


def as_float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


class Events(unittest.TestCase):
    def written(self, scalars):
        """{tag: [(step, value, wall time)]} as TensorBoard has it."""
        with tempfile.TemporaryDirectory() as folder:
            text = "".join(f"{tag} {step} {value!r} {wall!r}\n" for tag, step, value, wall in scalars)
            subprocess.run([TOOL, folder], input=text, text=True, check=True)
            self.assertEqual(len(os.listdir(folder)), 1)
            events = EventAccumulator(folder, size_guidance={"scalars": 0})
            events.Reload()
            return {tag: [(e.step, e.value, e.wall_time) for e in events.Scalars(tag)]
                    for tag in events.Tags()["scalars"]}

    def test_every_scalar_comes_back(self):
        rng = random.Random(7)
        want = {}
        for tag in ("loss/training", "share_of_step/waiting_for_data", "größe", "a"):
            want[tag] = [(step, as_float32(rng.gauss(0, 10 ** rng.randint(-8, 8))), 1.7e9 + rng.random() + step)
                         for step in range(0, 3000, 3)]
        read = self.written([(tag, *row) for tag, rows in want.items() for row in rows])
        self.assertEqual(read, want)

    def test_large_steps_and_odd_values_too(self):
        rows = [("x", 0, 0.0, 1e9), ("x", 2**40, math.inf, 1e9 + 1), ("x", 2**40 + 1, -0.0, 1e9 + 2)]
        self.assertEqual(self.written(rows)["x"], [tuple(row[1:]) for row in rows])
        (_, value, _), = self.written([("y", 1, math.nan, 1e9)])["y"]
        self.assertTrue(math.isnan(value))


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.access(sys.argv[1], os.X_OK):
        TOOL = sys.argv.pop(1)
    if not TOOL:
        sys.exit("HEADWAY_EVENTS_TOOL must name the events_tool program")
    unittest.main(verbosity=2)
