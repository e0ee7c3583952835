"""Decodes all files of some folders in three random orders with one decoder: each must give the same in each.

    orders.py DECODE_ALL FOLDER...

No crash, no finding of a sanitizer, no error but located ones; Huffman codes read by us and by libjpeg give the
same pixels.
"""
import os
import random
import subprocess
import sys
import tempfile

SEEDS = [1, 2, 3]
FIRST_WAY = "as it is"


class Failure(Exception):
    pass


def files_in(folders):
    return sorted(os.path.join(folder, name) for top in folders for folder, _, names in os.walk(top) for name in names)


def decode(tool, files, seed, folder, command=()):
    """{path: {way: outcome}} and {path: file with the pixels of the first way}."""
    order = list(files)
    random.Random(seed).shuffle(order)
    run = subprocess.run([*command, tool, folder], input="\n".join(order), capture_output=True, text=True)
    lines = [line.split("\t") for line in run.stdout.splitlines()]
    if run.returncode or len(lines) != len(order):
        near = lines[-1][0] if lines else "start"
        raise Failure(f"seed {seed}: {tool} ended with {run.returncode} near {near}\n{run.stderr[-6000:]}")
    outcomes = {path: dict(way.split("=", 1) for way in ways) for path, *ways in lines}
    return outcomes, {path: os.path.join(folder, str(number)) for number, path in enumerate(order)}


def troubles(runs):
    """What differs between orders, and what no order should have."""
    first = runs[0]
    for path, ways in first.items():
        for other in runs[1:]:
            for way in ways:
                if other[path][way] != ways[way]:
                    yield f"{path}: {way}: depends on the order: {ways[way]} | {other[path][way]}"
        for way, outcome in ways.items():
            if outcome.startswith("FAULT"):
                yield f"{path}: {way}: {outcome}"
        ours, theirs = ways[FIRST_WAY], ways.get("libjpeg", "refused")
        if not ours.startswith("refused") and not theirs.startswith("refused") and ours != theirs:
            yield f"{path}: our reader gives {ours}, libjpeg's {theirs}"


def run_orders(tool, files, folder, command=()):
    """The outcomes, the pixels (both of the first order), and the troubles."""
    runs = []
    for seed in SEEDS:
        here = os.path.join(folder, str(seed))
        os.makedirs(here)
        runs.append(decode(tool, files, seed, here, command))
    return runs[0][0], runs[0][1], list(troubles([outcomes for outcomes, _ in runs]))


def main():
    tool, *folders = sys.argv[1:]
    files = files_in(folders)
    with tempfile.TemporaryDirectory() as folder:
        outcomes, _, found = run_orders(tool, files, folder)
    for trouble in found:
        print(trouble)
    decoded = sum(not ways[FIRST_WAY].startswith("refused") for ways in outcomes.values())
    print(f"{len(files)} files, {decoded} decoded, in {len(SEEDS)} orders: {len(found)} troubles")
    sys.exit(1 if found or not decoded else 0)


if __name__ == "__main__":
    main()
