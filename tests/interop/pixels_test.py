"""Our pixels against TensorFlow's and Pillow's.

Run by run.sh with the path of pixels_tool as argument (or in HEADWAY_PIXELS_TOOL).
Tolerances are stated in the constants below; integer results are exact where tf's are defined.
"""
import io
import itertools
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import numpy as np
import tensorflow as tf
from PIL import Image

TOOL = os.environ.get("HEADWAY_PIXELS_TOOL") or sys.argv.pop(1)
RESIZE = 0.02  # gray levels of 255: float32 sums in another order
COLOR_LEVELS = 1  # uint8 levels: truncation at a boundary
COLOR_FLOAT = 2e-6
PILLOW_LEVELS = 1.5  # Pillow rounds to 8 bits after each of its two passes
DEFAULT_DCT_LEVELS = 8  # tf's default is the fast inverse DCT; ours is the accurate one


def smooth(height, width, channels, seed=0):
    """An image with slopes, edges and some noise."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    planes = []
    for c in range(channels):
        plane = 110 + 70 * np.sin(x / (7.0 + c) + c) + 50 * np.cos(y / (5.0 + 2 * c))
        plane += 60 * ((x * 2 + y * (c + 1)) % 37 > 18) + random.normal(0, 8, (height, width))
        planes.append(plane)
    return np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8)


def run(path, *steps, raw=None):
    command = [TOOL]
    if raw is not None:
        command += ["--raw", str(raw.dtype), *map(str, raw.shape)]
    done = subprocess.run(command + [path, *steps], capture_output=True)
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    head, body = done.stdout.split(b"\n", 1)
    dtype, *shape = head.decode().split()
    return np.frombuffer(body, dtype).reshape([int(s) for s in shape])


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def on_bytes(self, data, *steps):
        path = os.path.join(self.folder.name, "file")
        with open(path, "wb") as f:
            f.write(data)
        return run(path, *steps)

    def on_pixels(self, image, *steps):
        path = os.path.join(self.folder.name, "raw")
        image.tofile(path)
        return run(path, *steps, raw=image)

    def same(self, ours, theirs, tolerance=0.0):
        theirs = np.asarray(theirs)
        self.assertEqual(ours.shape, theirs.shape)
        self.assertEqual(ours.dtype, theirs.dtype)
        worst = np.abs(ours.astype(np.float64) - theirs.astype(np.float64)).max()
        self.assertLessEqual(worst, tolerance)


def decode_accurately(data, channels=0):
    return tf.io.decode_jpeg(data, channels=channels, dct_method="INTEGER_ACCURATE")


def jpeg(image, mode, **options):
    out = io.BytesIO()
    Image.fromarray(image if image.shape[-1] > 1 else image[..., 0], mode).save(out, "JPEG", **options)
    return out.getvalue()


class Jpeg(Case):
    SIZES = [(64, 64), (37, 53), (8, 1), (1, 17), (100, 75)]

    def kinds(self):
        for (h, w), progressive in itertools.product(self.SIZES, [False, True]):
            for subsampling in [0, 1, 2]:
                yield jpeg(smooth(h, w, 3), "RGB", quality=85, subsampling=subsampling, progressive=progressive)
            yield jpeg(smooth(h, w, 1), "L", quality=85, progressive=progressive)

    def test_decode_is_identical(self):
        for data, channels in itertools.product(self.kinds(), [0, 1, 3]):
            self.same(self.on_bytes(data, f"decode:{channels}"), decode_accurately(data, channels))

    def test_the_default_of_tf_is_near(self):
        for data in self.kinds():
            self.same(self.on_bytes(data, "decode:0"), tf.io.decode_jpeg(data), DEFAULT_DCT_LEVELS)

    def test_cmyk_is_identical(self):
        for quality in [70, 95]:
            data = jpeg(smooth(40, 60, 4), "CMYK", quality=quality)
            self.same(self.on_bytes(data, "decode:3"), decode_accurately(data, 3))

    def test_crop_is_identical_to_decoding_all(self):
        random = np.random.default_rng(1)
        for subsampling in [0, 1, 2]:
            data = jpeg(smooth(150, 201, 3), "RGB", quality=90, subsampling=subsampling)
            whole = decode_accurately(data).numpy()
            for _ in range(10):
                h, w = random.integers(1, 150), random.integers(1, 201)
                y, x = random.integers(0, 151 - h), random.integers(0, 202 - w)
                ours = self.on_bytes(data, "decode:3", f"crop:{x}:{y}:{w}:{h}")
                self.same(ours, whole[y:y + h, x:x + w])

    def test_truncated_is_refused_by_both(self):
        data = jpeg(smooth(64, 64, 3), "RGB", quality=90)[:-600]
        with self.assertRaises(tf.errors.InvalidArgumentError):
            tf.io.decode_jpeg(data)
        with self.assertRaisesRegex(RuntimeError, "truncated JPEG"):
            self.on_bytes(data, "decode:3")

    def test_exif_turns_as_pillow_does(self):
        from PIL import ImageOps
        image = Image.fromarray(smooth(24, 40, 3))
        for orientation in range(1, 9):
            exif = Image.Exif()
            exif[0x0112] = orientation
            out = io.BytesIO()
            image.save(out, "JPEG", exif=exif, subsampling=0)
            upright = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(out.getvalue()))))
            self.same(self.on_bytes(out.getvalue(), "decode:3:uint8:0:1"), upright)


ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def png(color, depth, height, width, interlaced, trns=None, palette=None, seed=0):
    """A PNG of random samples; each row with another filter."""
    random = np.random.default_rng(seed)
    samples = SAMPLES[color]
    top = (1 << depth) - 1 if color != 3 else min((1 << depth) - 1, len(palette) // 3 - 1)
    pixels = random.integers(0, top + 1, (height, width, samples))
    pixels[: height // 2] //= 2
    bpp = max(1, samples * depth // 8)

    def rows(part):
        above = None
        for y, row in enumerate(part):
            values = row.reshape(-1)
            if depth == 16:
                line = values.astype(">u2").tobytes()
            elif depth == 8:
                line = values.astype(np.uint8).tobytes()
            else:
                bits = ((values[:, None] >> np.arange(depth - 1, -1, -1)) & 1).reshape(-1)
                line = np.packbits(bits.astype(np.uint8)).tobytes()
            line = np.frombuffer(line, np.uint8).astype(np.int64)
            above = np.zeros_like(line) if above is None else above
            left = np.concatenate([np.zeros(bpp, np.int64), line])[: len(line)]
            corner = np.concatenate([np.zeros(bpp, np.int64), above])[: len(line)]
            guess = left + above - corner
            dist = np.abs(np.stack([guess - left, guess - above, guess - corner]))
            paeth = np.choose(dist.argmin(0), [left, above, corner])
            predicted = [0 * line, left, above, (left + above) // 2, paeth][y % 5]
            yield bytes([y % 5]) + ((line - predicted) % 256).astype(np.uint8).tobytes()
            above = line

    parts = [pixels[y0::dy, x0::dx] for x0, y0, dx, dy in ADAM7] if interlaced else [pixels]
    body = b"".join(b"".join(rows(part)) for part in parts if part.size)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packed = zlib.compress(body)
    out = b"\x89PNG\r\n\x1a\n"
    out += chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced))
    if palette:
        out += chunk(b"PLTE", bytes(palette))
    if trns:
        out += chunk(b"tRNS", trns)
    third = len(packed) // 3 + 1
    for i in range(0, len(packed), third):
        out += chunk(b"IDAT", packed[i:i + third])
    return out + chunk(b"IEND", b"")


class Png(Case):
    def kinds(self):
        for interlaced, (h, w) in itertools.product([0, 1], [(9, 13), (1, 1), (33, 20), (3, 70)]):
            for depth in [1, 2, 4, 8, 16]:
                yield 0, depth, png(0, depth, h, w, interlaced)
                yield 0, depth, png(0, depth, h, w, interlaced, trns=struct.pack(">H", 1))
            for color, depth in itertools.product([2, 4, 6], [8, 16]):
                yield color, depth, png(color, depth, h, w, interlaced)
            yield 2, 8, png(2, 8, h, w, interlaced, trns=struct.pack(">HHH", 1, 2, 3))
            for depth in [1, 2, 4, 8]:
                colors = min(1 << depth, 200)
                palette = np.random.default_rng(3).integers(0, 256, colors * 3).tolist()
                yield 3, depth, png(3, depth, h, w, interlaced, palette=palette)
                yield 3, depth, png(3, depth, h, w, interlaced, palette=palette, trns=bytes([0, 128][:colors]))

    def test_every_kind_is_identical(self):
        count = 0
        for (color, depth, data), dtype in itertools.product(self.kinds(), ["uint8", "uint16"]):
            for channels in [0, 1, 2, 3, 4]:
                try:
                    theirs = tf.io.decode_png(data, channels=channels, dtype=dtype).numpy()
                except tf.errors.InvalidArgumentError:
                    continue  # alpha added to gray of few bits
                ours = self.on_bytes(data, f"decode:{channels}:{dtype}")
                if depth < 8 and channels in (2, 4) and not np.array_equal(ours, theirs):
                    # The stated difference: tf's added alpha is not opaque.
                    opaque = 255 if dtype == "uint8" else 65535
                    self.assertTrue((ours[..., -1] == opaque).all())
                    ours, theirs = ours[..., :-1], theirs[..., :-1]
                with self.subTest(color=color, depth=depth, channels=channels, dtype=dtype):
                    self.same(ours, theirs)
                count += 1
        self.assertGreater(count, 400)


class Resize(Case):
    SIZES = [((40, 50), (20, 30)), ((31, 45), (64, 90)), ((60, 80), (60, 33)), ((100, 90), (7, 9)), ((3, 2), (9, 11)),
             ((1, 1), (4, 5)), ((200, 150), (64, 64))]

    def test_every_method_agrees_with_tf(self):
        methods = ["nearest", "bilinear", "bicubic", "area"]
        for ((h, w), (oh, ow)), method, antialias in itertools.product(self.SIZES, methods, [False, True]):
            for channels, dtype in [(3, np.uint8), (1, np.uint8), (4, np.uint8), (2, np.float32), (3, np.uint16)]:
                image = smooth(h, w, channels).astype(dtype)
                theirs = tf.image.resize(image, (oh, ow), method=method, antialias=antialias)
                ours = self.on_pixels(image, f"resize:{oh}:{ow}:{method}:{int(antialias)}")
                with self.subTest(size=(h, w, oh, ow), method=method, antialias=antialias, channels=channels):
                    self.same(ours, theirs, 0 if method == "nearest" else RESIZE)

    def test_antialiased_methods_agree_with_pillow(self):
        methods = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}
        for ((h, w), (oh, ow)), (name, method) in itertools.product(self.SIZES, methods.items()):
            image = smooth(h, w, 3) // 2 + 64  # away from 0 and 255, where Pillow clips between its passes
            theirs = np.asarray(Image.fromarray(image).resize((ow, oh), method)).astype(np.float32)
            ours = self.on_pixels(image, f"resize:{oh}:{ow}:{name}:1")
            with self.subTest(size=(h, w, oh, ow), method=name):
                self.same(ours, theirs, PILLOW_LEVELS)

    def test_crop_of_resize_is_the_window(self):
        image = smooth(90, 120, 3)
        theirs = tf.image.resize(image, (60, 70))[5:45, 11:60]
        self.same(self.on_pixels(image, "resize:60:70:bilinear:0", "crop:11:5:49:40"), theirs, RESIZE)


class Color(Case):
    OPS = [("brightness:0.2", lambda i: tf.image.adjust_brightness(i, 0.2)),
           ("brightness:-0.3", lambda i: tf.image.adjust_brightness(i, -0.3)),
           ("contrast:1.7", lambda i: tf.image.adjust_contrast(i, 1.7)),
           ("contrast:0.4", lambda i: tf.image.adjust_contrast(i, 0.4)),
           ("saturation:1.9", lambda i: tf.image.adjust_saturation(i, 1.9)),
           ("saturation:0.3", lambda i: tf.image.adjust_saturation(i, 0.3)),
           ("hue:0.15", lambda i: tf.image.adjust_hue(i, 0.15)),
           ("hue:-0.4", lambda i: tf.image.adjust_hue(i, -0.4)),
           ("grayscale", tf.image.rgb_to_grayscale),
           ("flip_lr", tf.image.flip_left_right),
           ("flip_ud", tf.image.flip_up_down),
           ("standardize", tf.image.per_image_standardization),
           ("convert:float32", lambda i: tf.image.convert_image_dtype(i, tf.float32)),
           ("convert:uint8", lambda i: tf.image.convert_image_dtype(i, tf.uint8)),
           ("convert:uint16", lambda i: tf.image.convert_image_dtype(i, tf.uint16))]

    def test_uint8(self):
        image = smooth(40, 51, 3)
        for step, theirs in self.OPS:
            expected = theirs(image)
            with self.subTest(step=step):
                self.same(self.on_pixels(image, step), expected, 1e-5 if expected.dtype == tf.float32 else COLOR_LEVELS)

    def test_float32(self):
        image = smooth(40, 51, 3).astype(np.float32) / 255
        for step, theirs in self.OPS:
            expected = theirs(image)
            with self.subTest(step=step):
                self.same(self.on_pixels(image, step), expected, 1e-5 if step == "standardize" else COLOR_FLOAT)


if __name__ == "__main__":
    unittest.main()
