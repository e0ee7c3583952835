#!/usr/bin/env python3
"""The Python examples of the seed documents, taken out of them when they are beside the checkout; never kept here.

Each is run twice: as written, and supplied with the names and files it lacks (supplies/ says what: our own code, put in
front or into the folder it runs in). Without --run they are only written:

    extract_seeds.py --out DIR                       DIR/000-1.py, DIR/000-1.supplied.py, ... and their files
    extract_seeds.py --run [--headway PROGRAM]       each in a fresh folder, on real TensorFlow; a table of what happens.
                                                     With --headway, under `headway run`, and held against EXPECTED.
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import examine
import judge
import processes
import run_foreign
import seed_supplies
from program import Program

ROOT = pathlib.Path(__file__).resolve().parents[2]


def seeds_folder():
    """Beside the checkout, or beside the place where its worktree stands."""
    for base in (ROOT, ROOT.parent):
        folder = base / "shared" / "seeds"
        if folder.is_dir():
            return folder
    return None


def examples(folder):
    """(name, code) of each fenced Python block: 000-1, 000-2, ... in the order of the documents."""
    for document in sorted(folder.glob("*.txt")):
        blocks = re.findall(r"^```python\n(.*?)^```", document.read_text(), re.M | re.S)
        for number, code in enumerate(blocks, 1):
            yield f"{document.name[:3]}-{number}", code


def variants(folder):
    """(name, code, needs): as written and, where something is lacking, supplied."""
    for name, code in examples(folder):
        yield name, code, None
        supply = seed_supplies.SUPPLIES.get(name)
        if supply:
            yield f"{name}.supplied", supply.text(code), supply


def place(name, code, supply, folder, python):
    """Writes the example into `folder` with the files it needs; the program's path."""
    if supply:
        supply.make_files(folder, python)
    path = folder / f"{name}.py"
    path.write_text(code)
    return path


def run_plainly(path, python, seconds):
    """What really happens: (exit status or None while it still ran, seconds, the last lines)."""
    started = time.monotonic()
    with open(path.parent / "said.txt", "w+") as said:
        process = subprocess.Popen([python, str(path)], cwd=path.parent, stdin=subprocess.DEVNULL, stdout=said,
                                   stderr=subprocess.STDOUT, start_new_session=True,
                                   env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}, preexec_fn=seed_supplies.limit_memory)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        took, status = time.monotonic() - started, process.poll()
        said.seek(0)  # before it is stopped: what the interrupt makes it print is of no interest
        text = re.sub(r"\x1b\[[0-9;]*m|\x08|━", "", said.read()).replace("\r", "\n")
        examine.stop(process, set())
    return status, took, [line for line in text.splitlines() if line.strip()]


def try_plainly(name, path, options):
    status, took, lines = run_plainly(path, options.tensorflow, options.seconds)
    how = "still runs" if status is None else f"exit {status}"
    print(f"=== {name}: {how} after {took:.1f} s", *(f"    {line[:160]}" for line in lines[-4:]), sep="\n", flush=True)
    return True


def try_under_headway(name, path, options):
    expected, accepted, verdicts = seed_supplies.EXPECTED[name]
    case = Program(path=path, python="tensorflow", expected=expected, accepted=accepted, verdicts=verdicts,
                   seconds=options.seconds, why="")
    limited = ["sh", "-c", f'ulimit -v {seed_supplies.MEMORY >> 10}; exec "$@"', "sh"]
    try:
        result = judge.judge(case, examine.by_run(case, [*limited, options.tensorflow, str(path)], options.headway,
                                                  path.parent, set()))
    except examine.NoVerdict as problem:
        result = judge.no_verdict(case, str(problem))
    print(run_foreign.row(result), flush=True)
    return result.ok


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--headway")
    parser.add_argument("--tensorflow", default=run_foreign.interop_python())
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--only", default="")
    return parser.parse_args()


def main():
    options = arguments()
    folder = seeds_folder()
    if folder is None or not options.tensorflow:
        print("skipped: no shared/seeds beside the checkout, or no TensorFlow (scripts/interop_setup.sh)")
        return 77
    processes.adopt_orphans()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    attempt = try_under_headway if options.headway else try_plainly
    right = tried = 0
    for name, code, supply in variants(folder):
        if not re.search(options.only, name):
            continue
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            place(name, code, supply, options.out, options.tensorflow)
        if options.run:
            with tempfile.TemporaryDirectory(prefix="seed-") as fresh:
                path = place(name, code, supply, pathlib.Path(fresh), options.tensorflow)
                right += attempt(name, path, options)
            tried += 1
        else:
            print(name)
    if options.headway:
        print(f"{right} of {tried} as expected")
    return 0 if right == tried else 1


if __name__ == "__main__":
    sys.exit(main())
