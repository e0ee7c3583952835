"""How every Python peer is timed, so that they differ only in what they run.

A peer is a function `open(task, files, threads)` that gives an endless iterator of batches, and a
`close(iterator)` where the peer has something to stop. Its program ends with `main(...)`, which
prints one line of JSON.
"""

import argparse
import gc
import json
import os
import resource
import sys
import time
from pathlib import Path

BATCH = {"t1": 64, "t2": 64, "t3": 16}
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)
SCALARS = 1_000_000
SCALARS_BATCH = 32


def cpu_seconds():
    """CPU time of this process, its ended children and its living descendants."""
    total = time.process_time()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total += ended.ru_utime + ended.ru_stime
    return total + sum(map(_cpu_of, _descendants(os.getpid())))


def _descendants(pid):
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [c for task in tasks for c in (task / "children").read_text().split()]
    except OSError:
        return []
    return [pid for child in children for pid in (child, *_descendants(child))]


def _cpu_of(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def list_images(folder):
    kinds = {".jpg", ".jpeg", ".png"}
    files = sorted(str(p) for p in Path(folder).rglob("*") if p.suffix.lower() in kinds)
    if not files:
        raise SystemExit(f"no images in {folder}")
    return files


def images(open, close, task, files, threads, seconds):
    """Warms up with one pipeline, then times a second one from its making."""
    first = open(task, files, threads)
    until = time.perf_counter() + min(2.0, seconds)
    while time.perf_counter() < until:
        next(first)
    close(first)
    del first
    gc.collect()
    time.sleep(0.5)  # its threads may still be filling a buffer

    start = time.perf_counter()
    batches = open(task, files, threads)
    next(batches)
    first_batch_ms = (time.perf_counter() - start) * 1e3
    for _ in range(8):  # past what was prefetched while the first batch was awaited
        next(batches)

    start, cpu = time.perf_counter(), cpu_seconds()
    count = 0
    while time.perf_counter() < start + seconds:
        next(batches)
        count += BATCH[task]
    wall, cpu = time.perf_counter() - start, cpu_seconds() - cpu
    close(batches)
    return {
        "images_per_s": round(count / wall, 1),
        "cpu_ms_per_image": round(cpu * 1e3 / count, 4),
        "first_batch_ms": round(first_batch_ms, 1),
    }


def scalars(variants):
    """The best variant's nanoseconds per scalar; a variant gives an iterator over one epoch."""
    best, chosen = None, None
    for name, open_epoch in variants.items():
        for _ in range(2):
            start = time.perf_counter()
            batches = sum(1 for _ in open_epoch())
            ns = (time.perf_counter() - start) * 1e9 / SCALARS
            assert batches == SCALARS // SCALARS_BATCH, batches
            if best is None or ns < best:
                best, chosen = ns, name
    return {"ns_per_element": round(best, 1), "variant": chosen}


def main(name, version, open, close=lambda batches: None, scalar_variants=None):
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--task", required=True, choices=["t1", "t2", "t3", "scalars"])
    arguments.add_argument("--images")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--seconds", type=float, default=5)
    arguments = arguments.parse_args()
    if arguments.task == "scalars":
        if scalar_variants is None:
            raise SystemExit(f"{name} has no scalars task")
        figures = scalars(scalar_variants(arguments.threads))
    else:
        figures = images(open, close, arguments.task, list_images(arguments.images),
                         arguments.threads, arguments.seconds)
    print(json.dumps({"name": name, "version": version, "task": arguments.task, **figures}))
    sys.stdout.flush()
    os._exit(0)  # some peers take seconds to stop their threads; nothing is left to save
