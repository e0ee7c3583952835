"""SPDL: FFmpeg decodes, scales and crops in a pool of threads; frames are gathered into a batch."""

import importlib.metadata
import itertools
import random

import spdl.io
from spdl.pipeline import PipelineBuilder

import measure
from normalise import normalise, to_unit

TO_RGB = "format=pix_fmts=rgb24"
T1 = ("scale=w='if(lt(iw,ih),256,-2)':h='if(lt(iw,ih),-2,256)':flags=bilinear,"
      f"crop=224:224,{TO_RGB}")
T3 = f"scale=w=64:h=64:flags=bilinear,{TO_RGB}"


def _t2():
    """A random crop by share of area and aspect, in FFmpeg's own expressions, then a coin's flip."""
    share, aspect = random.uniform(0.08, 1.0), random.uniform(3 / 4, 4 / 3)
    x, y = random.random(), random.random()
    crop = (f"crop=w='min(iw,sqrt(iw*ih*{share * aspect:.6f}))':h='min(ih,sqrt(iw*ih*{share / aspect:.6f}))'"
            f":x='(iw-ow)*{x:.6f}':y='(ih-oh)*{y:.6f}'")
    flip = ",hflip" if random.random() < 0.5 else ""
    return f"{crop},scale=w=224:h=224:flags=bilinear{flip},{TO_RGB}"


def open_images(task, files, threads):
    describe = {"t1": lambda: T1, "t2": _t2, "t3": lambda: T3}[task]
    finish = to_unit if task == "t3" else normalise

    def decode(path):
        return spdl.io.decode_packets(spdl.io.demux_image(path), filter_desc=describe())

    def gather(frames):
        return finish(spdl.io.to_numpy(spdl.io.convert_frames(frames)))

    pipeline = (PipelineBuilder()
                .add_source(itertools.cycle(files))
                .pipe(decode, concurrency=threads)
                .aggregate(measure.BATCH[task])
                .pipe(gather, concurrency=1)
                .add_sink(2)
                .build(num_threads=threads))
    return _batches(pipeline)


def _batches(pipeline):
    with pipeline.auto_stop():
        yield from pipeline.get_iterator()


if __name__ == "__main__":
    measure.main("spdl", importlib.metadata.version("spdl"), open_images, lambda batches: batches.close())
