"""Keras models from the descriptions of layers_test.py, and their weights under our names."""
import keras
import numpy as np

DIRECTIONS = (("forward_layer", ""), ("backward_layer", "_reverse"))


def snake_case(kind):
    """As our networks (and Keras) call a layer without a name."""
    out = ""
    for i, letter in enumerate(kind):
        if i and letter.isupper() and (kind[i - 1].islower() or kind[i + 1:i + 2].islower()):
            out += "_"
        out += letter.lower()
    return out


class Names:
    def __init__(self):
        self.used = {}

    def next(self, kind):
        base = snake_case(kind)
        count = self.used[base] = self.used.get(base, -1) + 1
        return f"{base}_{count}" if count else base


def gates(array):
    """A GRU's last axis: update, reset, new -> reset, update, new."""
    z, r, h = np.split(array, 3, axis=-1)
    return np.concatenate([r, z, h], axis=-1)


def depthwise(array):
    height, width, channels, multiplier = array.shape
    return array.transpose(2, 3, 0, 1).reshape(channels * multiplier, 1, height, width)


def recurrent_parts(kind, cell, suffix):
    turn = gates if kind == "GRU" else lambda a: a
    yield cell.kernel, {f"weight_ih{suffix}": lambda a: turn(a).T}
    yield cell.recurrent_kernel, {f"weight_hh{suffix}": lambda a: turn(a).T}
    if cell.bias is None:
        return
    if kind == "LSTM":
        yield cell.bias, {f"bias{suffix}": lambda a: a}
    else:
        yield cell.bias, {f"bias_ih{suffix}": lambda a: gates(a[0]),
                          f"bias_hh{suffix}": lambda a: gates(a[1])}


def parts_of(made, options):
    """Pairs (Keras' variable, {our name: our array of Keras'}) in our order."""
    kind = options["class"]
    if kind in ("LSTM", "GRU"):
        if not options.get("bidirectional"):
            yield from recurrent_parts(kind, made.cell, "")
        else:
            for attribute, suffix in DIRECTIONS:
                yield from recurrent_parts(kind, getattr(made, attribute).cell, suffix)
        return
    kernels = {"Dense": lambda a: a.T, "Conv2D": lambda a: a.transpose(3, 2, 0, 1),
               "DepthwiseConv2D": depthwise}
    names = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean",
             "moving_variance": "running_var", "embeddings": "weight", "bias": "bias",
             "kernel": "weight"}
    for variable in made.weights:
        turn = kernels[kind] if variable.name == "kernel" else lambda a: a
        yield variable, {names[variable.name]: turn}


def make_layer(options, dtype):
    kind = options["class"]
    rest = {k: v for k, v in options.items() if k not in ("class", "bidirectional")}
    if kind == "Normalization":
        rest = {"mean": rest["mean"], "variance": rest["variance"],
                "axis": -1 if len(rest["mean"]) > 1 else None}
        if rest["axis"] is None:
            rest["mean"], rest["variance"] = rest["mean"][0], rest["variance"][0]
    if options.get("bidirectional"):
        inner = getattr(keras.layers, kind)(**rest, dtype=dtype)
        return keras.layers.Bidirectional(inner, dtype=dtype)
    return getattr(keras.layers, kind)(**rest, dtype=dtype)


class KerasNet:
    """`model`, and the order of its weights in ours."""

    def __init__(self, c):
        self.dtype = c["dtype"]
        self.parts = []  # (variable, {our full name: turn})
        self.constants = {}  # weights of ours that Keras holds otherwise
        if "application" in c:
            return self.application(c)
        x = keras.Input(c["input"], dtype="int64" if "indices" in c else self.dtype)
        self.model = keras.Model(x, self.chain(c["layers"], x, ""))

    def application(self, c):
        usual = keras.config.floatx()
        keras.config.set_floatx(self.dtype)
        keras.config.set_dtype_policy(self.dtype)
        try:
            self.model = keras.applications.VGG16(weights=None, input_shape=tuple(c["input"]), classes=c["classes"])
        finally:
            keras.config.set_floatx(usual)
            keras.config.set_dtype_policy(usual)
        for made in self.model.layers:
            self.add(made, {"class": type(made).__name__}, made.name)

    def add(self, made, options, name):
        for variable, turns in parts_of(made, options) if made.weights else ():
            self.parts.append((variable, {f"{name}.{k}": turn for k, turn in turns.items()}))

    def chain(self, layers, x, prefix):
        names = Names()
        for options in layers:
            name = prefix + names.next(options["class"])
            x = self.apply(options, x, name)
        return x

    def apply(self, options, x, name):
        if options["class"] == "Block":
            return self.chain(options["layers"], x, name + ".")
        if options["class"] == "Residual":
            main = self.chain(options["layers"], x, name + ".")
            shortcut = self.chain(options.get("shortcut", []), x, name + ".shortcut.")
            return keras.layers.Activation(options["activation"], dtype=self.dtype)(
                keras.layers.Add(dtype=self.dtype)([main, shortcut]))
        made = make_layer(options, self.dtype)
        y = made(x)
        if options["class"] == "Normalization":
            for key in ("mean", "variance"):
                self.constants[f"{name}.{key}"] = np.array(options[key], self.dtype)
        else:
            self.add(made, options, name)
        return y

    def randomize(self, random):
        """Nothing is left at zero or one, where an error would not show."""
        for variable, _ in self.parts:
            scale = 0.6 / np.sqrt(max(1, np.prod(variable.shape[:-1]))) if len(
                variable.shape) > 1 else 0.3
            values = random.normal(0, scale, variable.shape)
            if variable.name in ("gamma", "moving_variance"):
                values = 1 + np.abs(values)
            variable.assign(values.astype(self.dtype))

    def weights(self):
        for variable, turns in self.parts:
            for name, turn in turns.items():
                yield name, np.ascontiguousarray(turn(variable.numpy()))
        yield from self.constants.items()

    def gradients(self, gradients):
        """Of model.trainable_variables, under our names."""
        by_variable = {id(v): g for v, g in zip(self.model.trainable_variables, gradients)}
        for variable, turns in self.parts:
            if id(variable) not in by_variable:
                continue
            gradient = by_variable[id(variable)]
            if hasattr(gradient, "indices"):  # an embedding's, only of the rows in use
                dense = np.zeros(variable.shape, self.dtype)
                np.add.at(dense, gradient.indices.numpy(), gradient.values.numpy())
            else:
                dense = gradient.numpy()
            for name, turn in turns.items():
                yield name, turn(dense)


def orthogonal_matrix_of(options, name, ours):
    """Our weight as the matrix that Keras makes orthogonal: all axes but the last x the last."""
    kind = options["class"]
    if kind == "DepthwiseConv2D":
        multiplier = options["depth_multiplier"]
        channels = len(ours) // multiplier
        return ours.reshape(channels, multiplier, -1).transpose(0, 2, 1).reshape(-1, multiplier)
    if "weight_ih" in name or "weight_hh" in name or kind in ("Dense", "Conv2D"):
        return ours.reshape(len(ours), -1).T
    return ours
