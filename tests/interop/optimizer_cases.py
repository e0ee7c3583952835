"""Optimizers and schedules: where Keras puts the weights in ten steps."""
import warnings

import keras
import numpy as np
import tensorflow as tf

from learning_case import Case

STEPS = 10
WEIGHT_SHAPES = [(5, 3), (3,), (4, 2, 3, 3), (1,), (), (37, 29)]


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
