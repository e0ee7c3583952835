"""Must be run by hand (minutes): the corpora of Pillow, libjpeg-turbo and PngSuite through the sanitized decoders.

    scripts/corpora_setup.sh && cmake --preset asan && cmake --build --preset asan --target decode_all
    $(scripts/interop_setup.sh --where) tests/corpora/corpora.py build/asan/tests/corpora/decode_all

With the system's libjpeg-turbo and with version 3, in three random orders each (orders.py): the same each time, and
pixels equal to TensorFlow's where it decodes, else to Pillow's; or a located error. What is otherwise must stand
in exceptions.txt with its reason, and every line there must be needed.
"""
import collections
import fnmatch
import os
import subprocess
import sys
import tempfile

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import numpy as np

import orders
import peers

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
LIBRARIES = {"libjpeg-turbo of the system": [], "libjpeg-turbo 3": [os.path.join(HERE, "../libjpeg/with_version_3.sh")]}


def read_exceptions():
    with open(os.path.join(HERE, "exceptions.txt")) as lines:
        return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def pixels_of(outcome, path):
    shape = [int(side) for side in outcome.split()[1].split("x")]
    return np.fromfile(path, np.uint8).reshape(shape)


def verdict(data, outcome, raw):
    """How we stand beside the others, and whether that is as it should be."""
    if not peers.is_ours(data):
        return "neither JPEG nor PNG: refused", outcome.startswith("refused")
    name, theirs = "TensorFlow", peers.by_tensorflow(data)
    if theirs is None:
        name, theirs = "Pillow", peers.by_pillow(data)
    if outcome.startswith("refused"):
        return ("refused by all", True) if theirs is None else (f"refused, {name} decodes it", False)
    if theirs is None:
        return "decoded by us alone", False
    ours = pixels_of(outcome, raw)
    if ours.shape != theirs.shape:
        return f"{ours.shape}, {name} has {theirs.shape}", False
    if not np.array_equal(ours, theirs):
        apart = np.abs(ours.astype(int) - theirs)
        return f"up to {apart.max()} levels from {name} in {(apart > 0).mean():.2%} of values", False
    return f"equal to {name}", True


def main():
    tool = os.path.abspath(sys.argv[1])
    corpora = subprocess.run([os.path.join(ROOT, "scripts/corpora_setup.sh"), "--where"], check=True, text=True,
                             capture_output=True).stdout.strip()
    files = orders.files_in([corpora])
    if not files:
        sys.exit("no corpora here yet: scripts/corpora_setup.sh fetches them")
    exceptions, needed, failures = read_exceptions(), set(), 0
    for library, command in LIBRARIES.items():
        print(f"== {library}: {len(files)} files in {len(orders.SEEDS)} orders", flush=True)
        counts = collections.Counter()
        with tempfile.TemporaryDirectory() as folder:
            outcomes, raw, troubles = orders.run_orders(tool, files, folder, command)
            for path in files:
                outcome = outcomes[path][orders.FIRST_WAY]
                with open(path, "rb") as file:
                    said, good = verdict(file.read(), outcome, raw[path])
                name = os.path.relpath(path, corpora)
                allowed = next((pattern for pattern in exceptions if fnmatch.fnmatch(name, pattern)), None)
                if not good and allowed:
                    needed.add(allowed)
                    said = "listed in exceptions.txt"
                elif not good:
                    troubles.append(f"{name}: {said}: {outcome}")
                counts[said] += 1
        for said, count in counts.most_common():
            print(f"  {count:5}  {said}")
        for trouble in troubles:
            print(f"  FAILED {trouble}")
        failures += len(troubles)
    for pattern in sorted(set(exceptions) - needed):
        print(f"FAILED exceptions.txt: {pattern} is not needed any more")
        failures += 1
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
