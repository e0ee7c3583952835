"""grain with OpenCV: reader threads (OpenCV lets go of the interpreter while it decodes).

PEER_VARIANT=processes gives it `threads` worker processes; run_peer.py takes the better one.
"""

import importlib.metadata
import os

import cv2
import grain
import numpy

import measure
from normalise import normalise, to_unit

PROCESSES = os.environ.get("PEER_VARIANT") == "processes"
cv2.setNumThreads(0)


def _decode(path):
    image = cv2.imdecode(numpy.fromfile(path, numpy.uint8), cv2.IMREAD_COLOR)
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)


def _t1(path):
    """Shorter side to 256 and centre 224, cropped before the resize so that less is resized."""
    image = _decode(path)
    side = int(min(image.shape[:2]) * 224 / 256)
    top, left = (image.shape[0] - side) // 2, (image.shape[1] - side) // 2
    return normalise(cv2.resize(image[top:top + side, left:left + side], (224, 224)))


def _t2(path, random):
    image = _decode(path)
    rows, columns = image.shape[:2]
    area = rows * columns * random.uniform(0.08, 1.0)
    aspect = numpy.exp(random.uniform(numpy.log(3 / 4), numpy.log(4 / 3)))
    height = min(rows, max(1, round((area / aspect) ** 0.5)))
    width = min(columns, max(1, round((area * aspect) ** 0.5)))
    top, left = random.integers(rows - height + 1), random.integers(columns - width + 1)
    image = cv2.resize(image[top:top + height, left:left + width], (224, 224))
    return normalise(cv2.flip(image, 1) if random.integers(2) else image)


def _t3(path):
    return to_unit(cv2.resize(_decode(path), (64, 64)))


def open_images(task, files, threads):
    dataset = grain.MapDataset.source(files).seed(1).repeat()
    if task == "t2":
        dataset = dataset.random_map(_t2)
    else:
        dataset = dataset.map({"t1": _t1, "t3": _t3}[task])
    dataset = dataset.batch(measure.BATCH[task])
    if PROCESSES:
        options = grain.ReadOptions(num_threads=1, prefetch_buffer_size=2)
        dataset = dataset.to_iter_dataset(options)
        dataset = dataset.mp_prefetch(grain.MultiprocessingOptions(num_workers=threads))
    else:
        options = grain.ReadOptions(num_threads=threads, prefetch_buffer_size=2 * threads)
        dataset = dataset.to_iter_dataset(options)
    return iter(dataset)


if __name__ == "__main__":
    measure.main("grain", importlib.metadata.version("grain"), open_images)
