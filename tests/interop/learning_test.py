"""Losses, metrics and optimizers against the real Keras: values, gradients, ten steps of weights.

    HEADWAY_LEARNING_TOOL=build/release/learning_tool python tests/interop/learning_test.py

float64 has to agree to 1e-9 of the norm, float32 to 1e-4.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from safetensors.numpy import load_file, save_file

from loss_cases import binary_cases, class_cases, regression_cases
from metric_cases import accuracy_cases, distance_cases, top_k_cases
from optimizer_cases import default_cases, rule_cases, schedule_cases

TOOL = os.environ.get("HEADWAY_LEARNING_TOOL")
TOLERANCE = {"float32": 1e-4, "float64": 1e-9}


def compute(cases):
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("cases.json", "in.safetensors", "out.safetensors")]
        with open(paths[0], "w") as file:
            json.dump([case.settings for case in cases], file)
        arrays = {f"{i}.{k}": np.ascontiguousarray(v).reshape(np.shape(v))
                  for i, case in enumerate(cases) for k, v in case.arrays.items()}
        save_file(arrays, paths[1])
        done = subprocess.run([TOOL, *paths], capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)
        return load_file(paths[2])


def distance(ours, theirs):
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if ours.shape != theirs.shape:
        return np.inf
    size = np.linalg.norm(theirs)
    return np.linalg.norm(ours - theirs) / (size if size else 1)


class Learning(unittest.TestCase):
    def compare(self, make):
        for dtype, tolerance in TOLERANCE.items():
            keras.backend.set_floatx(dtype)
            cases = list(make(dtype, np.random.default_rng(7)))
            results = compute(cases)
            worst = 0.0
            for i, case in enumerate(cases):
                with self.subTest(f"{case.name} in {dtype}"):
                    for key, theirs in case.expected.items():
                        far = distance(results[f"{i}.{key}"], theirs)
                        worst = max(worst, far)
                        self.assertLessEqual(far, tolerance, key)
            print(f"{make.__name__} in {dtype}: {len(cases)} cases, worst {worst:.1e}", flush=True)

    def test_regression_losses(self):
        self.compare(regression_cases)

    def test_binary_losses(self):
        self.compare(binary_cases)

    def test_class_losses(self):
        self.compare(class_cases)

    def test_accuracy(self):
        self.compare(accuracy_cases)

    def test_top_k(self):
        self.compare(top_k_cases)

    def test_mse_and_mae(self):
        self.compare(distance_cases)

    def test_optimizers(self):
        self.compare(rule_cases)

    def test_optimizers_as_they_come(self):
        self.compare(default_cases)

    def test_schedules(self):
        self.compare(schedule_cases)


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.access(sys.argv[1], os.X_OK):
        TOOL = sys.argv.pop(1)
    if not TOOL:
        sys.exit("HEADWAY_LEARNING_TOOL must name the learning_tool program")
    unittest.main(verbosity=2)
