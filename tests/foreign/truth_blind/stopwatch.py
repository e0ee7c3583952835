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
no_core = {}  # of those, what this thread waited for a core, as the kernel says
open_parts = []


def waited():
    with open("/proc/thread-self/schedstat") as file:
        return 1e-9 * int(file.read().split()[1])


began = since = written = time.perf_counter()
waited_since = waited()


def turn():
    """What has passed since the last turn belongs to the innermost open part."""
    global since, waited_since
    now, now_waited = time.perf_counter(), waited()
    if open_parts:
        sums[open_parts[-1]] = sums.get(open_parts[-1], 0.0) + now - since
        no_core[open_parts[-1]] = no_core.get(open_parts[-1], 0.0) + now_waited - waited_since
    since, waited_since = now, now_waited


def started():
    global began, since, written, waited_since
    sums.clear()
    no_core.clear()
    began = since = written = time.perf_counter()
    waited_since = waited()


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
            json.dump({"total": since - began, "parts": sums, "no_core": no_core}, file)
        os.replace(path + ".part", path)
