"""tf.data with AUTOTUNE: decode_and_crop_jpeg, as in TensorFlow's own ImageNet recipes.

PEER_VARIANT=private gives it a private pool of `threads` instead; run_peer.py takes the better one.
"""

import os

import tensorflow as tf

import measure

AUTOTUNE = tf.data.AUTOTUNE
PRIVATE = os.environ.get("PEER_VARIANT") == "private"


SCALE = [1 / (255 * d) for d in measure.DEVIATION]
SHIFT = [-m / d for m, d in zip(measure.MEAN, measure.DEVIATION)]


def _resized(image, size):
    return tf.raw_ops.ResizeBilinear(
        images=image[tf.newaxis], size=[size, size], half_pixel_centers=True)[0]


def _normalised(batch):
    """HWC to CHW, once per batch: measured faster than once per image."""
    return tf.transpose(batch * tf.constant(SCALE) + tf.constant(SHIFT), [0, 3, 1, 2])


def _t1(path):
    """Shorter side to 256 and centre 224: the centre crop of 224/256 of the shorter side."""
    data = tf.io.read_file(path)
    shape = tf.io.extract_jpeg_shape(data)
    side = tf.cast(tf.cast(tf.minimum(shape[0], shape[1]), tf.float32) * (224 / 256), tf.int32)
    window = tf.stack([(shape[0] - side) // 2, (shape[1] - side) // 2, side, side])
    return _resized(tf.io.decode_and_crop_jpeg(data, window, channels=3), 224)


def _t2(path):
    data = tf.io.read_file(path)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(data), tf.constant([0, 0, 1, 1], tf.float32, [1, 1, 4]),
        min_object_covered=0.1, area_range=(0.08, 1.0), aspect_ratio_range=(3 / 4, 4 / 3),
        max_attempts=10, use_image_if_no_bounding_boxes=True)
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    image = tf.io.decode_and_crop_jpeg(data, window, channels=3)
    return _resized(tf.image.random_flip_left_right(image), 224)


def _t3(path):
    image = tf.io.decode_png(tf.io.read_file(path), channels=3)
    return _resized(image, 64) / 255


def _options(threads):
    options = tf.data.Options()
    if PRIVATE:
        options.threading.private_threadpool_size = threads
    return options


def open_images(task, files, threads):
    function = {"t1": _t1, "t2": _t2, "t3": _t3}[task]
    dataset = tf.data.Dataset.from_tensor_slices(files).repeat()
    dataset = dataset.map(function, num_parallel_calls=AUTOTUNE)
    dataset = dataset.batch(measure.BATCH[task], drop_remainder=True)
    if task != "t3":
        dataset = dataset.map(_normalised, num_parallel_calls=AUTOTUNE)
    return iter(dataset.prefetch(AUTOTUNE).with_options(_options(threads)))


def scalar_variants(threads):
    """Taken one batch at a time from Python, and counted in the graph, where Python costs nothing."""
    def dataset(calls):
        scalars = tf.data.Dataset.range(measure.SCALARS).map(lambda x: x, num_parallel_calls=calls)
        return scalars.batch(measure.SCALARS_BATCH).with_options(_options(threads))

    def counted(calls):
        return range(int(dataset(calls).reduce(0, lambda count, _: count + 1)))

    return {
        "map, from Python": lambda: iter(dataset(None)),
        "map, in the graph": lambda: counted(None),
        "map with AUTOTUNE, in the graph": lambda: counted(AUTOTUNE),
    }


if __name__ == "__main__":
    measure.main("tf.data", tf.__version__, open_images, scalar_variants=scalar_variants)
