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
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from safetensors.numpy import load_file, save_file

TOOL = os.environ.get("HEADWAY_LEARNING_TOOL")
TOLERANCE = {"float32": 1e-4, "float64": 1e-9}
STEPS = 10
WEIGHT_SHAPES = [(5, 3), (3,), (4, 2, 3, 3), (1,), (), (37, 29)]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Case:
    """What our half is told (`settings`, `arrays`) and what Keras says (`expected`)."""

    def __init__(self, name, **settings):
        self.name, self.settings = name, settings
        self.arrays, self.expected = {}, {}

    def but(self, **changes):
        """The same done in another way, to the same end."""
        label = ", ".join(f"{key} {value}" for key, value in changes.items())
        other = Case(f"{self.name}, {label}", **{**self.settings, **changes})
        other.arrays, other.expected = self.arrays, self.expected
        return other


# ---- losses ----


def keras_loss(settings):
    crossentropy = {
        "from_logits": settings.get("from_logits", False),
        "label_smoothing": settings.get("label_smoothing", 0.0),
    }
    kind = settings["loss"]
    if kind == "huber":
        return keras.losses.Huber(delta=settings.get("delta", 1.0))
    if kind == "binary":
        return keras.losses.BinaryCrossentropy(**crossentropy)
    if kind == "categorical":
        return keras.losses.CategoricalCrossentropy(**crossentropy)
    if kind == "sparse":
        return keras.losses.SparseCategoricalCrossentropy(from_logits=crossentropy["from_logits"])
    return {"mse": keras.losses.MeanSquaredError, "mae": keras.losses.MeanAbsoluteError}[kind]()


def smoothed_sparse(settings, target, output):
    """Keras' sparse loss knows no smoothing: ours means that of the one-hot labels."""
    target = np.eye(output.shape[-1])[target.reshape(output.shape[:-1])]
    return {**settings, "loss": "categorical"}, target


def loss_case(name, dtype, target, output, weights=None, keras_weights=None, **settings):
    case = Case(name, kind="loss", **settings)
    output = np.asarray(output, dtype)
    case.arrays = {"target": target, "output": output}
    if weights is not None:
        case.arrays["weights"] = weights
        keras_weights = weights if keras_weights is None else keras_weights
    if settings["loss"] == "sparse" and settings.get("label_smoothing"):
        settings, target = smoothed_sparse(settings, target, output)
    x = tf.Variable(output)
    with tf.GradientTape() as tape:
        finish = {"softmax": tf.nn.softmax, "sigmoid": tf.nn.sigmoid}.get(settings.get("missing"))
        value = keras_loss(settings)(target, finish(x) if finish else x, keras_weights)
    case.expected = {"value": value.numpy(), "gradient": tape.gradient(value, x).numpy()}
    return case


def regression_cases(dtype, rng):
    for loss in ({"loss": "mse"}, {"loss": "mae"}, {"loss": "huber"}, {"loss": "huber", "delta": 0.3}):
        label = "-".join(str(v) for v in loss.values())
        for shape in ((7, 3), (7, 1), (4, 5, 2), (3, 4, 5, 2)):
            target, output = rng.normal(size=shape), rng.normal(size=shape)
            yield loss_case(f"{label} {shape}", dtype, target, output, **loss)
            weights = rng.uniform(size=shape[0])
            spread = weights.reshape(-1, *[1] * (len(shape) - 2))
            yield loss_case(f"{label} {shape} weighted", dtype, target, output, weights, spread, **loss)
        flat, column, steps = rng.normal(size=6), rng.normal(size=(6, 1)), rng.normal(size=(6, 4))
        yield loss_case(f"{label} N against N x 1", dtype, flat, column, **loss)
        yield loss_case(f"{label} N x 1 against N", dtype, column, flat, **loss)
        yield loss_case(f"{label} N x T against N x T x 1", dtype, steps, steps[..., None] + 1, **loss)
        yield loss_case(f"{label} N x T x 1 against N x T", dtype, steps[..., None], steps + 1, **loss)
        yield loss_case(f"{label} integer targets", dtype, np.arange(6), column, **loss)
        yield loss_case(
            f"{label} weight per step", dtype, steps[..., None], rng.normal(size=(6, 4, 1)),
            rng.uniform(size=(6, 4)), **loss)


def binary_cases(dtype, rng):
    for smoothing in (0.0, 0.1):
        for shape in ((8, 1), (8, 5), (3, 4, 4, 1)):
            x = rng.normal(size=shape) * 3
            target = (rng.uniform(size=shape) < 0.4).astype(np.int64)
            weights = rng.uniform(size=shape[0])
            spread = weights.reshape(-1, *[1] * (len(shape) - 2))
            common = {"loss": "binary", "label_smoothing": smoothing}
            label = f"binary {shape} smoothing {smoothing}"
            yield loss_case(f"{label} probabilities", dtype, target, sigmoid(x), **common)
            yield loss_case(f"{label} logits", dtype, target, x, from_logits=True, **common)
            yield loss_case(f"{label} fused", dtype, target, x, missing="sigmoid", **common)
            yield loss_case(
                f"{label} fused weighted", dtype, target, x, weights, spread, missing="sigmoid", **common)
    yield loss_case(
        "binary N against N x 1", dtype, np.array([0, 1, 1]), [[0.2], [0.7], [0.4]], loss="binary")
    yield loss_case(
        "binary at the clip", dtype, np.array([[0, 1, 1, 0.0]]), [[0.0, 1.0, 0.0, 1e-9]], loss="binary")


def class_cases(dtype, rng):
    for classes, shape in ((3, (8,)), (10, (4, 5)), (4, (2, 3, 3))):
        x = rng.normal(size=(*shape, classes)) * 3
        labels = rng.integers(0, classes, shape)
        one_hot = np.eye(classes)[labels]
        weights = rng.uniform(size=shape[0])
        spread = weights.reshape(-1, *[1] * (len(shape) - 1))
        ends = {
            "probabilities": (softmax(x), {}),
            "unnormalised": (sigmoid(x), {}),
            "logits": (x, {"from_logits": True}),
            "fused": (x, {"missing": "softmax"}),
        }
        for end, (output, how) in ends.items():
            for smoothing in (0.0, 0.2):
                for loss, target in (("categorical", one_hot), ("sparse", labels)):
                    options = {"loss": loss, "label_smoothing": smoothing, **how}
                    label = f"{loss} {output.shape} {end} smoothing {smoothing}"
                    yield loss_case(label, dtype, target, output, **options)
                    yield loss_case(
                        f"{label} weighted", dtype, target, output, weights, spread, **options)
    x, labels = rng.normal(size=(6, 4)), rng.integers(0, 4, (6, 1))
    for integer in (np.uint8, np.int32, np.int64):
        yield loss_case(
            f"sparse N x 1 of {integer.__name__}", dtype, labels.astype(integer), x,
            loss="sparse", missing="softmax")
    sure = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]
    yield loss_case("sparse at the clip", dtype, np.array([1, 0]), sure, loss="sparse")
    yield loss_case("categorical at the clip", dtype, np.eye(3)[[1, 0]], sure, loss="categorical")


# ---- metrics ----


def metric_case(name, dtype, judge, batches, output_of=lambda x: x, **settings):
    """`judge` is Keras' metric; `output_of` is what Keras sees of our model's output."""
    case = Case(name, kind="metric", batches=len(batches), **settings)
    for i, (target, output, *weights) in enumerate(batches):
        output = np.asarray(output, dtype)
        case.arrays |= {f"{i}.target": target, f"{i}.output": output}
        if weights:
            case.arrays[f"{i}.weights"] = weights[0]
        judge.update_state(target, output_of(output), *weights)
        case.expected[f"{i}.value"] = np.float64(judge.result())
    return case


def resolved(target, output):
    return keras.src.trainers.compile_utils.get_metric("accuracy", target, output)


def batches_of(make, rng):
    """Four batches of different sizes; the third has weights."""
    made = [make(n) for n in (8, 3, 5, 1)]
    made[2] = (*made[2], rng.uniform(size=5))
    return made


def accuracy_cases(dtype, rng):
    numbers = lambda n: (rng.integers(0, 4, n), rng.normal(size=(n, 4)))
    shapes = {
        "one output": (lambda n: (rng.integers(0, 2, (n, 1)), sigmoid(rng.normal(size=(n, 1)))), "binary"),
        "one output, flat targets": (lambda n: (rng.integers(0, 2, n), rng.uniform(size=(n, 1))), "binary"),
        "one output under mse": (lambda n: (rng.integers(0, 2, (n, 1)), rng.uniform(size=(n, 1))), "mse"),
        "class numbers": (numbers, "sparse"),
        "class numbers in a column": (lambda n: (rng.integers(0, 4, (n, 1)), rng.normal(size=(n, 4))), "sparse"),
        "one-hot": (lambda n: (np.eye(4)[rng.integers(0, 4, n)], rng.normal(size=(n, 4))), "categorical"),
        "steps": (lambda n: (rng.integers(0, 4, (n, 6)), rng.normal(size=(n, 6, 4))), "sparse"),
        "one-hot pixels": (
            lambda n: (np.eye(3)[rng.integers(0, 3, (n, 2, 2))], rng.normal(size=(n, 2, 2, 3))), "categorical"),
        "ties": (lambda n: (rng.integers(0, 4, n), rng.integers(0, 2, (n, 4))), "sparse"),
    }
    for name, (make, loss) in shapes.items():
        batches = batches_of(make, rng)
        yield metric_case(
            f"accuracy of {name}", dtype, resolved(*batches[0][:2]), batches, metric="accuracy", loss=loss)
    several = batches_of(lambda n: (rng.integers(0, 2, (n, 3)), rng.normal(size=(n, 3))), rng)
    for name, threshold in (("default", None), ("0.7", 0.7)):
        judge = keras.metrics.BinaryAccuracy(threshold=threshold or 0.5)
        extra = {} if threshold is None else {"threshold": threshold}
        yield metric_case(
            f"accuracy of several answers, threshold {name}", dtype, judge, several, sigmoid,
            metric="accuracy", loss="binary", missing="sigmoid", **extra)
    yield metric_case(
        "accuracy of logits", dtype, keras.metrics.BinaryAccuracy(threshold=0.0), several,
        metric="accuracy", loss="binary", from_logits=True)
    yield metric_case(
        "accuracy before softmax", dtype, keras.metrics.SparseCategoricalAccuracy(),
        batches_of(numbers, rng), softmax, metric="accuracy", loss="sparse", missing="softmax")


def single(x):
    """TensorFlow's in_top_k takes nothing else."""
    return x.astype(np.float32)


def top_k_cases(dtype, rng):
    for k in (1, 3, 5):
        for ties in (False, True):
            draw = (lambda s: rng.integers(0, 3, s)) if ties else (lambda s: rng.normal(size=s))
            label = f"top {k}{' with ties' if ties else ''}"
            yield metric_case(
                f"{label} of class numbers", dtype, keras.metrics.SparseTopKCategoricalAccuracy(k),
                batches_of(lambda n: (rng.integers(0, 9, n), draw((n, 9))), rng), single,
                metric="top_k", k=k, loss="sparse")
            yield metric_case(
                f"{label} of one-hot", dtype, keras.metrics.TopKCategoricalAccuracy(k),
                batches_of(lambda n: (np.eye(9)[rng.integers(0, 9, n)], draw((n, 9))), rng), single,
                metric="top_k", k=k, loss="categorical")
    for value in (np.nan, np.inf):
        output = np.array([[0.1, value, 0.3], [0.1, 0.2, 0.3]])
        yield metric_case(
            f"top 2 with {value}", dtype, keras.metrics.SparseTopKCategoricalAccuracy(2),
            [(np.array([0, 1]), output)], single, metric="top_k", k=2, loss="sparse")


def distance_cases(dtype, rng):
    for name, kind in (("mse", keras.metrics.MeanSquaredError), ("mae", keras.metrics.MeanAbsoluteError)):
        for shape in ((3,), (1,), (4, 2)):
            make = lambda n: (rng.normal(size=(n, *shape)), rng.normal(size=(n, *shape)))
            yield metric_case(f"{name} of {shape}", dtype, kind(), batches_of(make, rng), metric=name, loss="mse")
        make = lambda n: (rng.uniform(size=(n, 4)), rng.normal(size=(n, 4)))
        yield metric_case(
            f"{name} before softmax", dtype, kind(), batches_of(make, rng), softmax,
            metric=name, loss="mse", missing="softmax")


# ---- optimizers ----


class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    """A linear rise from 0, then `behind` from its own step 0."""

    def __init__(self, behind, steps):
        self.behind, self.steps = behind, steps

    def __call__(self, step):
        step = tf.cast(step, keras.backend.floatx())
        late = tf.cast(self.behind(tf.maximum(step - self.steps, 0)), step.dtype)
        return late * tf.minimum(step / self.steps, 1)


def keras_schedule(s):
    exact = np.dtype(keras.backend.floatx()).type  # a Python number would be rounded to float32
    rate, kind = exact(s.get("learning_rate", 0.01)), s.get("schedule", "constant")
    schedules = keras.optimizers.schedules
    if kind == "cosine":
        made = schedules.CosineDecay(rate, s["decay_steps"], alpha=s.get("alpha", 0.0))
        if "warmup" in s:
            return schedules.CosineDecay(
                exact(0), s["decay_steps"], alpha=s.get("alpha", 0.0), warmup_target=rate, warmup_steps=s["warmup"])
    elif kind == "exponential":
        made = schedules.ExponentialDecay(rate, s["decay_steps"], s["rate"], s.get("staircase", False))
    elif kind == "step":
        values = [exact(rate * s["factor"] ** i) for i in range(len(s["boundaries"]) + 1)]
        made = schedules.PiecewiseConstantDecay(s["boundaries"], values)
    elif "warmup" in s:
        made = lambda step: rate
    else:
        return float(rate)
    return WarmUp(made, s["warmup"]) if "warmup" in s else made


def keras_optimizer(s):
    kinds = {
        "sgd": (keras.optimizers.SGD, ("momentum", "nesterov")),
        "adam": (keras.optimizers.Adam, ("beta_1", "beta_2", "epsilon", "amsgrad")),
        "rmsprop": (keras.optimizers.RMSprop, ("rho", "momentum", "epsilon", "centered")),
    }
    kind, own = kinds[s["optimizer"]]
    common = ("weight_decay", "clipvalue", "clipnorm", "global_clipnorm")
    return kind(keras_schedule(s), **{key: s[key] for key in (*own, *common) if key in s})


def optimizer_case(name, dtype, rng, **settings):
    case = Case(name, kind="optimizer", steps=STEPS, weights=len(WEIGHT_SHAPES), **settings)
    weights = [rng.normal(size=shape).astype(dtype) for shape in WEIGHT_SHAPES]
    variables = [keras.Variable(w, dtype=dtype) for w in weights]
    case.arrays = {f"weight.{i}": w for i, w in enumerate(weights)}
    optimizer = keras_optimizer(settings)
    optimizer.build(variables)
    for step in range(STEPS):
        gradients = [(rng.normal(size=s) * 10 ** rng.uniform(-3, 1)).astype(dtype) for s in WEIGHT_SHAPES]
        gradients[0][0] = 0
        if step % 3 == 1:
            gradients[1] = None
        case.arrays |= {f"{step}.gradient.{i}": g for i, g in enumerate(gradients) if g is not None}
        tensors = [None if g is None else tf.constant(g) for g in gradients]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Gradients do not exist")  # missing on purpose
            optimizer.apply(tensors, variables)
        for i, variable in enumerate(variables):
            case.expected[f"{step}.weight.{i}"] = variable.numpy()
    return case


# Keras casts these through float32, also for float64 weights: they are numbers that it holds.
RULES = {
    "sgd": {"optimizer": "sgd"},
    "sgd momentum": {"optimizer": "sgd", "momentum": 0.875},
    "sgd nesterov": {"optimizer": "sgd", "momentum": 0.75, "nesterov": True},
    "adam": {"optimizer": "adam", "beta_1": 0.875, "beta_2": 1 - 2**-10},
    "adam other epsilon": {"optimizer": "adam", "beta_1": 0.75, "beta_2": 0.96875, "epsilon": 1e-3},
    "adam amsgrad": {"optimizer": "adam", "amsgrad": True, "beta_1": 0.875, "beta_2": 0.5},
    "rmsprop": {"optimizer": "rmsprop"},
    "rmsprop momentum": {"optimizer": "rmsprop", "momentum": 0.7, "rho": 0.8},
    "rmsprop centered": {"optimizer": "rmsprop", "centered": True, "epsilon": 1e-4},
    "rmsprop centered momentum": {"optimizer": "rmsprop", "centered": True, "momentum": 0.5},
}
CHANGES = {
    "": {},
    "decay": {"weight_decay": 0.125},
    "clipped values": {"clipvalue": 0.4},
    "clipped norms": {"clipnorm": 1.3},
    "clipped global norm": {"global_clipnorm": 2.0},
    "decay, clipped global norm": {"weight_decay": 2**-6, "global_clipnorm": 0.5},
}
SCHEDULES = {
    "cosine": {"schedule": "cosine", "decay_steps": 6},
    "cosine alpha": {"schedule": "cosine", "decay_steps": 7, "alpha": 0.2},
    "cosine warm-up": {"schedule": "cosine", "decay_steps": 5, "alpha": 0.1, "warmup": 3},
    "exponential": {"schedule": "exponential", "decay_steps": 4, "rate": 0.5},
    "exponential staircase": {"schedule": "exponential", "decay_steps": 3, "rate": 0.5, "staircase": True},
    "exponential warm-up": {"schedule": "exponential", "decay_steps": 4, "rate": 0.5, "warmup": 4},
    "step": {"schedule": "step", "boundaries": [2, 6], "factor": 0.1},
    "constant warm-up": {"warmup": 4},
}


def rule_cases(dtype, rng):
    for rule, settings in RULES.items():
        for change, more in CHANGES.items():
            case = optimizer_case(", ".join(filter(None, (rule, change))), dtype, rng, **settings, **more)
            for layout in ("dense", "channels_last", "gaps"):
                yield case.but(layout=layout)
            yield case.but(threads=1)


def default_cases(dtype, rng):
    """Keras' own settings, which it does not compute with in float64."""
    if dtype == "float32":
        for kind in ("sgd", "adam", "rmsprop"):
            yield optimizer_case(f"{kind} as it comes", dtype, rng, optimizer=kind)
        yield optimizer_case("adamw as it comes", dtype, rng, optimizer="adam", weight_decay=0.004)


def schedule_cases(dtype, rng):
    for name, schedule in SCHEDULES.items():
        for rule in ("sgd momentum", "adam", "rmsprop"):
            yield optimizer_case(
                f"{rule}, {name}", dtype, rng, learning_rate=0.05, weight_decay=2**-7, **RULES[rule], **schedule)


# ---- the comparison ----


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
