"""What TensorFlow and Pillow make of an image: uint8 pixels (height, width, channels), or None."""
import io
import warnings

import numpy as np
import tensorflow as tf
from PIL import Image

JPEG, PNG = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"


def is_ours(data):
    return data.startswith((JPEG, PNG))


def by_tensorflow(data):
    try:
        if data.startswith(JPEG):
            return tf.io.decode_jpeg(data, channels=0, dct_method="INTEGER_ACCURATE").numpy()
        return tf.io.decode_png(data, channels=0).numpy()
    except tf.errors.OpError:
        return None


def by_pillow(data):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(data), formats=["JPEG", "PNG", "MPO"])
            image.load()
    except Exception:  # of every kind, by design: it is somebody else's decoder on a bad file
        return None
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode == "1":
        image = image.convert("L")
    elif image.mode in ("CMYK", "YCCK"):
        image = image.convert("RGB")
    pixels = np.asarray(image)
    if pixels.dtype != np.uint8:  # 16 bits: the upper 8
        pixels = (pixels >> 8).astype(np.uint8)
    return pixels if pixels.ndim == 3 else pixels[..., None]
