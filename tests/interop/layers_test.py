"""Our layers against Keras': outputs, gradients, moving statistics, initial weights.

Run by run.sh with the path of layers_tool as argument (or in HEADWAY_LAYERS_TOOL). Every case is
made in Keras and in the tool from the same description, weights and batches; all cases go through
the tool at once, and each is a test of its own name. keras_net.py builds Keras' half.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import tensorflow as tf
from safetensors.numpy import load_file, save_file

from keras_net import KerasNet, orthogonal_matrix_of

TOOL = os.environ.get("HEADWAY_LAYERS_TOOL") or sys.argv.pop(1)
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}  # of the norm
# Keras rounds its own constants to float32: 0.2 and sqrt(2) here. Elsewhere the cases give numbers
# that float32 can hold.
ROUNDED_TOLERANCE = {"leaky_relu": 1e-7, "gelu": 1e-7}
DEVIATIONS = 5  # between the moments of two samples
BOUND = 0.03  # between the largest of two samples
FOLDER = tempfile.TemporaryDirectory()
CASES = []


def layer(kind, **options):
    return {"class": kind, **options}


def case(name, layers, shape, dtypes=("float64", "float32"), **options):
    layers = layers if isinstance(layers, list) else [layers]
    for dtype in dtypes:
        CASES.append({"name": f"{name}_{dtype}", "layers": layers, "input": list(shape),
                      "dtype": dtype, **options})


def convolution_cases():
    image = (9, 8, 4)
    for strides in (1, 2, 3, [1, 2]):
        for padding in ("valid", "same"):
            for kernel in (3, 2, [4, 3]):
                if isinstance(strides, list) and padding == "same" and kernel == 2:
                    continue
                text = f"conv2d_k{kernel}_s{strides}_{padding}"
                case(text, layer("Conv2D", filters=5, kernel_size=kernel, strides=strides,
                                 padding=padding), image)
    case("conv2d_stride_2_on_even", layer("Conv2D", filters=3, kernel_size=3, strides=2,
                                          padding="same", activation="relu"), (8, 8, 2))
    case("conv2d_1x1", layer("Conv2D", filters=6, kernel_size=1, use_bias=False), image)
    for padding in ("valid", "same"):
        case(f"conv2d_groups_{padding}", layer("Conv2D", filters=6, kernel_size=3, groups=2,
                                               padding=padding), image)
        case(f"conv2d_dilated_{padding}", layer("Conv2D", filters=3, kernel_size=3,
                                                dilation_rate=2, padding=padding), image)
        for multiplier in (1, 3):
            for strides in (1, 2):
                case(f"depthwise_m{multiplier}_s{strides}_{padding}",
                     layer("DepthwiseConv2D", kernel_size=3, strides=strides, padding=padding,
                           depth_multiplier=multiplier), image)
    case("depthwise_dilated", layer("DepthwiseConv2D", kernel_size=3, dilation_rate=2,
                                    activation="relu6", use_bias=False), image)
    case("conv2d_softmax", layer("Conv2D", filters=5, kernel_size=2, activation="softmax"), image)


def pooling_cases():
    for kind in ("MaxPooling2D", "AveragePooling2D"):
        for size, strides in ((2, 2), (2, 1), (3, 2), (3, 1), (2, 3), ([3, 2], [1, 2]),
                              ([2, 3], [1, 2]), (4, 1), (1, 3)):
            for padding in ("valid", "same"):
                for shape in ((9, 8, 3), (7, 10, 2)):
                    case(f"{kind.lower()}_{size}_s{strides}_{padding}_{shape[0]}",
                         layer(kind, pool_size=size, strides=strides, padding=padding), shape,
                         dtypes=["float64"])
        case(f"{kind.lower()}_default", layer(kind, pool_size=3), (9, 8, 3))
    case("max_pooling_of_negatives", [layer("Rescaling", scale=0.125, offset=-9.0),
                                      layer("MaxPooling2D", pool_size=3, strides=2,
                                            padding="same")], (8, 8, 2))
    case("global_average", layer("GlobalAveragePooling2D"), (5, 6, 7))
    case("zero_padding", layer("ZeroPadding2D", padding=[1, 2]), (5, 6, 3))


def simple_cases():
    for name in ("linear", "relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "sigmoid",
                 "tanh", "softplus", "softmax"):
        case(f"activation_{name}", layer("Activation", activation=name), (40,))
        case(f"activation_{name}_on_images", layer("Activation", activation=name), (3, 4, 5),
             dtypes=["float64"])
        case(f"dense_{name}", layer("Dense", units=6, activation=name), (7,))
    case("dense_on_images", layer("Dense", units=5, activation="relu"), (4, 3, 6))
    case("dense_on_sequences", layer("Dense", units=5, use_bias=False), (4, 6))
    case("dense_behind_convolution", [layer("Conv2D", filters=4, kernel_size=2),
                                      layer("Dense", units=3, activation="softmax")], (5, 4, 2))
    case("flatten_images", [layer("Conv2D", filters=4, kernel_size=2), layer("Flatten"),
                            layer("Dense", units=3)], (5, 4, 2))
    case("flatten_pooled_slices", [layer("MaxPooling2D", pool_size=2, strides=1, padding="same"),
                                   layer("Flatten")], (5, 4, 2))
    case("reshape_to_image", [layer("Reshape", target_shape=[4, 6, 1]),
                              layer("Conv2D", filters=2, kernel_size=3)], (24,))
    case("reshape_from_image", [layer("Reshape", target_shape=[-1, 6]),
                                layer("Dense", units=2)], (4, 3, 2))
    case("rescaling", layer("Rescaling", scale=1 / 128, offset=-1.0), (4, 3, 3))
    case("rescaling_bytes", layer("Rescaling", scale=1 / 256), (4, 3, 3), bytes=True)
    case("normalization", layer("Normalization", mean=[0.5, 0.25, 0.375], variance=[0.125, 0.0, 2.0]),
         (4, 5, 3))
    case("normalization_of_vectors", layer("Normalization", mean=[0.5], variance=[4.0]), (6,))
    case("dropout_in_inference", layer("Dropout", rate=0.5), (6,))
    case("embedding", [layer("Embedding", input_dim=11, output_dim=4), layer("Dense", units=2)],
         (7,), indices=11)
    case("embedding_of_planes", layer("Embedding", input_dim=5, output_dim=3), (4, 3), indices=5)


def normalization_cases():
    for training in (True, False):
        for shape in ((6,), (5, 6), (4, 3, 6)):
            for options in ({}, {"center": False}, {"scale": False},
                            {"center": False, "scale": False, "momentum": 0.7, "epsilon": 1e-5}):
                name = "_".join(["batch_normalization", str(len(shape)), *options,
                                 "training" if training else "inference"])
                case(name, layer("BatchNormalization", **options), shape, training=training,
                     steps=4 if training else 1)
    case("convolution_with_batch_normalization",
         [layer("Conv2D", filters=4, kernel_size=3, use_bias=False), layer("BatchNormalization"),
          layer("Activation", activation="relu"), layer("Flatten"), layer("Dense", units=3)],
         (6, 6, 2), training=True, steps=3)
    for shape in ((6,), (5, 6), (4, 3, 6)):
        case(f"layer_normalization_{len(shape)}", layer("LayerNormalization"), shape)
    case("layer_normalization_no_center", layer("LayerNormalization", center=False), (6,))
    case("layer_normalization_no_scale", layer("LayerNormalization", scale=False, epsilon=1e-6),
         (5, 6))


def recurrent_cases():
    for kind in ("LSTM", "GRU"):
        for sequences in (False, True):
            for both in (False, True):
                name = f"{kind.lower()}{'_sequences' * sequences}{'_bidirectional' * both}"
                case(name, layer(kind, units=4, return_sequences=sequences, bidirectional=both),
                     (6, 3))
        case(f"{kind.lower()}_no_bias", layer(kind, units=4, use_bias=False), (5, 3))
        case(f"{kind.lower()}_stacked",
             [layer(kind, units=4, return_sequences=True, bidirectional=True),
              layer(kind, units=3, return_sequences=True), layer(kind, units=5),
              layer("Dense", units=2, activation="softmax")], (5, 3))
    case("text_classifier", [layer("Embedding", input_dim=20, output_dim=6),
                             layer("LSTM", units=5, bidirectional=True),
                             layer("Dense", units=1, activation="sigmoid")], (9,), indices=20)


def model_cases():
    conv = {"kernel_size": 3, "padding": "same", "use_bias": False}
    case("residual", [
        layer("Conv2D", filters=4, **conv),
        layer("Residual", activation="relu", layers=[
            layer("Conv2D", filters=4, **conv), layer("BatchNormalization"),
            layer("Activation", activation="relu"), layer("Conv2D", filters=4, **conv)]),
        layer("Residual", activation="relu",
              layers=[layer("Conv2D", filters=6, strides=2, **conv), layer("BatchNormalization")],
              shortcut=[layer("Conv2D", filters=6, kernel_size=1, strides=2, use_bias=False),
                        layer("BatchNormalization")]),
        layer("Block", layers=[layer("GlobalAveragePooling2D"), layer("Dense", units=3)])],
         (7, 8, 3), training=True, steps=2)
    case("small_image_classifier", [
        layer("Rescaling", scale=1 / 256),
        layer("Conv2D", filters=32, kernel_size=3, activation="relu"), layer("MaxPooling2D"),
        layer("Conv2D", filters=64, kernel_size=3, activation="relu"), layer("MaxPooling2D"),
        layer("Flatten"), layer("Dense", units=64, activation="relu"),
        layer("Dense", units=10, activation="softmax")], (32, 32, 3), bytes=True)
    # In float32 two values under a pooling may be so near that the CPU's kernels decide which is larger, and with it
    # where a gradient goes.
    CASES.append({"name": "vgg16", "application": "vgg16", "classes": 10, "input": [32, 32, 3],
                  "dtype": "float64"})


KERNELS = {  # kind -> (layer with the initializer's option, shape of a sample)
    "dense": (lambda i: layer("Dense", units=500, kernel_initializer=i), (60,)),
    "conv2d": (lambda i: layer("Conv2D", filters=150, kernel_size=3, kernel_initializer=i),
               (8, 8, 20)),
    "grouped": (lambda i: layer("Conv2D", filters=160, kernel_size=[5, 3], groups=2,
                                kernel_initializer=i), (8, 8, 20)),
    "depthwise": (lambda i: layer("DepthwiseConv2D", kernel_size=5, depth_multiplier=4,
                                  depthwise_initializer=i), (8, 8, 250)),
    "embedding": (lambda i: layer("Embedding", input_dim=400, output_dim=60,
                                  embeddings_initializer=i), (3,)),
    "lstm": (lambda i: layer("LSTM", units=50, kernel_initializer=i), (4, 120)),
    "gru": (lambda i: layer("GRU", units=60, kernel_initializer=i), (4, 120)),
}
INITIALIZERS = ("zeros", "ones", "glorot_uniform", "glorot_normal", "he_uniform", "he_normal",
                "lecun_uniform", "lecun_normal", "orthogonal", "random_normal", "random_uniform")


def initializer_cases():
    for kernel, (make, shape) in KERNELS.items():
        for initializer in INITIALIZERS:
            CASES.append({"name": f"initial_{kernel}_{initializer}", "layers": [make(initializer)],
                          "input": list(shape), "dtype": "float32", "initializer": initializer})


def batch_of(c, random):
    shape = (3, *c["input"])
    if "indices" in c:
        return random.integers(0, c["indices"], shape).astype(np.int64)
    if c.get("bytes"):
        return random.integers(0, 256, shape).astype(np.uint8)
    return (random.normal(0.3, 2, shape)).astype(c["dtype"])


def keras_half(c, index):
    """Runs the case in Keras; what it gives, and the file for the tool."""
    random = np.random.default_rng(index)
    net = KerasNet(c)
    net.randomize(random)
    arrays = dict(net.weights())
    training = c.get("training", False)
    for step in range(c.get("steps", 1)):
        x = arrays[f"x{step}"] = batch_of(c, random)
        given = tf.constant(x if "indices" in c else x.astype(c["dtype"]))
        with tf.GradientTape() as tape:
            tape.watch(given)
            y = net.model(given, training=training)
            if step == 0:
                dy = random.normal(0, 1, y.shape).astype(c["dtype"])
            objective = tf.reduce_sum(y * dy)
    variables = [v.value for v in net.model.trainable_variables]
    gradients, dx = tape.gradient(objective, [variables, given])
    expected = {"y": y.numpy(), "inference": net.model(given, training=False).numpy()}
    if np.issubdtype(x.dtype, np.floating):
        expected["dx"] = dx.numpy()
    expected.update({"grad:" + name: g for name, g in net.gradients(gradients)})
    expected.update(net.weights())  # with the moving statistics as they are now
    save_file({**arrays, "dy": dy}, f"{FOLDER.name}/{index}.in.safetensors")
    return expected


def initial_half(c, index):
    net = KerasNet(c)
    save_file({"none": np.zeros(1, np.float32)}, f"{FOLDER.name}/{index}.in.safetensors")
    return dict(net.weights())


def setUpModule():
    tf.keras.utils.set_random_seed(1)
    for index, c in enumerate(CASES):
        make = initial_half if "initializer" in c else keras_half
        c["expected"] = make(c, index)
    with open(f"{FOLDER.name}/cases.json", "w") as f:
        json.dump([{k: v for k, v in c.items() if k != "expected"} for c in CASES], f)
    done = subprocess.run([TOOL, FOLDER.name], capture_output=True, text=True)
    sys.stderr.write(done.stderr)


def tearDownModule():
    FOLDER.cleanup()


class Layers(unittest.TestCase):
    def results(self, index):
        path = f"{FOLDER.name}/{index}.out.safetensors"
        self.assertTrue(os.path.exists(path), "the tool could not do it, see above")
        return load_file(path)

    def compare(self, index):
        c, ours = CASES[index], self.results(index)
        limit = TOLERANCE[c["dtype"]]
        if "layers" in c:
            limit = max(limit, ROUNDED_TOLERANCE.get(c["layers"][0].get("activation"), 0))
        described = json.dumps({k: v for k, v in c.items() if k != "expected"})
        for name, theirs in c["expected"].items():
            self.assertIn(name, ours, described)
            self.assertEqual(ours[name].shape, theirs.shape, f"{name} of {described}")
            self.assertEqual(ours[name].dtype, np.dtype(c["dtype"]), f"{name} of {described}")
            error = np.linalg.norm((ours[name] - theirs).ravel())
            error /= np.linalg.norm(theirs.ravel()) or 1
            self.assertLessEqual(error, limit, f"{name} of {described}")

    def compare_initial(self, index):
        c, ours = CASES[index], self.results(index)
        self.assertEqual(set(ours), set(c["expected"]))
        for name, theirs in c["expected"].items():
            mine = ours[name].astype(np.float64)
            theirs = theirs.astype(np.float64)
            self.assertEqual(mine.shape, theirs.shape)
            if "bias" in name or theirs.std() == 0:
                np.testing.assert_array_equal(mine, theirs, name)
                continue
            deviation = theirs.std()
            limit = DEVIATIONS * np.sqrt(2 / mine.size)
            self.assertLess(abs(mine.std() - deviation) / deviation, limit, name)
            self.assertLess(abs(mine.mean() - theirs.mean()) / deviation, limit, name)
            if "hh" in name or c["initializer"] == "orthogonal":
                self.orthogonal(orthogonal_matrix_of(c["layers"][0], name, mine))
            elif c["initializer"] != "random_normal":
                bounds = np.abs(mine).max() / np.abs(theirs).max()
                self.assertLess(abs(bounds - 1), BOUND, name)

    def loses_its_share(self, index):
        """Keras draws other numbers: what is left must be scaled, as often, and in the gradient."""
        c, ours = CASES[index], self.results(index)
        given = load_file(f"{FOLDER.name}/{index}.in.safetensors")
        kept = ours["y"] != 0
        for result, source in (("y", "x0"), ("dx", "dy")):
            scaled = given[source] / (1 - c["dropped"])
            np.testing.assert_allclose(ours[result], np.where(kept, scaled, 0), rtol=1e-6)
        self.assertLess(abs(1 - kept.mean() - c["dropped"]), 0.01)
        theirs = c["expected"]["y"]
        self.assertLess(abs(kept.mean() - (theirs != 0).mean()), 0.01)
        np.testing.assert_array_equal(ours["inference"], given["x0"])

    def orthogonal(self, matrix):
        if matrix.shape[0] > matrix.shape[1]:
            matrix = matrix.T
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(len(matrix)), atol=1e-5)


convolution_cases()
pooling_cases()
simple_cases()
normalization_cases()
recurrent_cases()
model_cases()
initializer_cases()
CASES.append({"name": "dropout", "layers": [layer("Dropout", rate=0.3)], "input": [200, 200],
              "dtype": "float32", "training": True, "dropped": 0.3})
for number, one in enumerate(CASES):
    check = Layers.compare
    if "initializer" in one:
        check = Layers.compare_initial
    if "dropped" in one:
        check = Layers.loses_its_share
    setattr(Layers, "test_" + one["name"], lambda self, i=number, check=check: check(self, i))

if __name__ == "__main__":
    unittest.main()
