"""Losses: what Keras says of values and gradients."""
import keras
import numpy as np
import tensorflow as tf

from learning_case import Case, sigmoid, softmax


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
