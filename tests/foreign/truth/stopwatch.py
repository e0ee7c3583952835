"""A stopwatch of the kind that people put around the parts of their loop. No program: the programs import it.

    with part("step"): ...       time goes to one part at a time; an inner part takes it from the outer one
    started()                    the first step begins: what was before does not count

Every second the sums go to the file that TRUTH_FILE names, whole or not at all.
"""
import contextlib
import json
import os
import time

sums = {}
open_parts = []
began = since = written = time.perf_counter()


def turn():
    """What has passed since the last turn belongs to the innermost open part."""
    global since
    now = time.perf_counter()
    if open_parts:
        sums[open_parts[-1]] = sums.get(open_parts[-1], 0.0) + now - since
    since = now


def started():
    global began, since, written
    sums.clear()
    began = since = written = time.perf_counter()


def give(seconds, giver, taker):
    """For what can only be told apart afterwards."""
    sums[giver] = sums.get(giver, 0.0) - seconds
    sums[taker] = sums.get(taker, 0.0) + seconds


@contextlib.contextmanager
def part(name):
    enter(name)
    try:
        yield
    finally:
        leave()


def enter(name):
    turn()
    open_parts.append(name)


def leave():
    turn()
    open_parts.pop()
    if since - written > 1:
        write()


def write():
    global written
    written = since
    path = os.environ.get("TRUTH_FILE")
    if path:
        with open(path + ".part", "w") as file:
            json.dump({"total": since - began, "parts": sums}, file)
        os.replace(path + ".part", path)
