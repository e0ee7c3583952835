"""Stands in for a data set on disk: made once per user in the temporary folder, then reused.

No program of this folder; the programs import it the way a script imports its own `data.py`.
"""
import os
import pathlib
import shutil
import tempfile

import numpy as np

ROOT = pathlib.Path(tempfile.gettempdir()) / f"headway-foreign-{os.getuid()}"


def _once(name, fill):
    """The folder `name`, filled by `fill(folder)` if it is not there yet. Two makers at once do no harm."""
    folder = ROOT / name
    if not folder.is_dir():
        ROOT.mkdir(mode=0o700, exist_ok=True)
        fresh = pathlib.Path(tempfile.mkdtemp(dir=ROOT))
        fill(fresh)
        try:
            fresh.rename(folder)
        except OSError:
            shutil.rmtree(fresh)
    return folder


def photos(count, width=640, height=480, suffix="jpg"):
    """Paths of `count` pictures with soft colours, about as costly to decode as photographs."""

    def fill(folder):
        from PIL import Image

        random = np.random.default_rng(count)
        for i in range(count):
            coarse = random.integers(0, 256, (height // 16, width // 16, 3), dtype=np.uint8)
            Image.fromarray(coarse).resize((width, height), Image.BICUBIC).save(folder / f"{i:05}.{suffix}")

    folder = _once(f"photos-{count}-{width}x{height}-{suffix}", fill)
    return [str(path) for path in sorted(folder.iterdir())]


def arrays(count, shape):
    """Paths of `count` .npy files of float32."""

    def fill(folder):
        random = np.random.default_rng(count)
        for i in range(count):
            np.save(folder / f"{i:05}.npy", random.random(shape, dtype=np.float32))

    name = "x".join(map(str, shape))
    return [str(path) for path in sorted(_once(f"arrays-{count}-{name}", fill).iterdir())]


def crumbs(count, size):
    """Paths of `count` files of `size` bytes, a hundred to a folder."""

    def fill(folder):
        random = np.random.default_rng(count)
        for i in range(count):
            if i % 100 == 0:
                (folder / f"{i // 100:04}").mkdir()
            (folder / f"{i // 100:04}" / f"{i:06}.bin").write_bytes(random.bytes(size))

    return [str(path) for path in sorted(_once(f"crumbs-{count}-{size}", fill).glob("*/*.bin"))]


def blob(megabytes):
    """Path of one file of that size."""

    def fill(folder):
        random = np.random.default_rng(megabytes)
        with open(folder / "samples.bin", "wb") as out:
            for _ in range(megabytes):
                out.write(random.bytes(1 << 20))

    return str(_once(f"blob-{megabytes}", fill) / "samples.bin")


def everything():
    """All that the programs ask for, so that none spends its time making files."""
    for count, width, height in ((300, 1024, 768), (300, 640, 480), (200, 160, 120), (120, 2048, 1536)):
        photos(count, width, height)
    arrays(64, (96, 96, 3))
    arrays(1024, (64, 64))
    crumbs(40000, 256)
    blob(32)
    blob(256)


if __name__ == "__main__":
    everything()
