"""Metrics: what Keras says after each batch."""
import keras
import numpy as np

from learning_case import Case, sigmoid, softmax


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
