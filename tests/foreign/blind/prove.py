#!/usr/bin/env python3
"""Proves the programs of a blind round without Headway: runs each beside its cured twin and counts.

  prove.py ROUND/proof_a.json [NAME ...] --python tensorflow=PYTHON --python torch=PYTHON ... [--py-spy PROGRAM] [--lock FILE] [--lanes N]

ROUND holds programs/NAME.py, cured/NAME.py (none for healthy ones) and the author's table, which tells how to read what a
program prints, and to which the results are added:

  {"tide_levels": {"kind": "slow",               slow, stuck, memory, learning or healthy
                   "step": "step (\\\\d+)",        a regular expression: its group is the number of steps so far; two groups are
                                                 the epoch and the step in it ("per_epoch" tells how many an epoch has); without
                                                 a group each line is one more. "keras" reads Keras' bars.
                   "loss": "loss[:=] *(\\\\S+)"}}  for "learning" and "healthy"

What holds: a slow program's twin makes 1.3 times as many steps, twice (once where it makes twice as many); a stuck one shows the same stacks twice and its twin goes
on; memory grows steadily and the twin's does not; losses stay while the twin's fall; a healthy one begins, goes on until the
end, keeps its memory and its losses fall. --lock FILE: only one proof at a time among all that name the same file. --lanes N: so many at a time, on a machine with
cores for all of them. Programs for a GPU (`python: gpu`) see it, the others do not."""
import argparse
import concurrent.futures
import contextlib
import fcntl
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time

MIB = 2**20
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


def header_of(path):
    """The fields of a program's header, and the program with the header's lines empty."""
    lines = path.read_text().splitlines()
    end = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    fields = dict(match.groups() for line in lines[:end] if (match := re.match(r"# ([\w-]+): *(.*)", line)))
    return fields, "\n".join([""] * end + lines[end:]) + "\n"


def family(pid):
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):
            for task in pathlib.Path(f"/proc/{one}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def memory_and_cpu(pid):
    memory = cpu = 0
    for one in family(pid):
        with contextlib.suppress(OSError, IndexError):
            memory += int(pathlib.Path(f"/proc/{one}/statm").read_text().split()[1]) * PAGE / MIB
            fields = pathlib.Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
            cpu += (int(fields[11]) + int(fields[12])) / TICKS
    return memory, cpu


def stacks(py_spy, pid):
    """The four innermost frames of every thread, in the order of processes and threads."""
    out = []
    for one in family(pid):
        told = subprocess.run([py_spy, "dump", "--pid", str(one)], capture_output=True, text=True, timeout=30, check=False).stdout
        for thread in told.split("Thread ")[1:]:
            out.append([line.strip() for line in thread.splitlines() if line.startswith("    ")][:4])
    return out


class Run:
    """One program for some seconds, from its start."""

    def __init__(self, python, path, seconds, py_spy=None):
        self.on_gpu = header_of(path)[0].get("python") == "gpu"
        self.seconds, self.pieces, self.memory, self.stacks = seconds, [], [], []
        with tempfile.TemporaryDirectory(prefix="proof-") as folder:
            copy = pathlib.Path(folder) / path.name
            copy.write_text(header_of(path)[1])
            self._watch(python, copy, folder, py_spy)

    def _watch(self, python, copy, folder, py_spy):
        environment = dict(os.environ, PYTHONUNBUFFERED="1", TF_CPP_MIN_LOG_LEVEL="2")
        if not self.on_gpu:
            environment["CUDA_VISIBLE_DEVICES"] = ""
        began = time.monotonic()
        child = subprocess.Popen([python, str(copy)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, cwd=folder, env=environment, start_new_session=True)

        def read():
            while piece := os.read(child.stdout.fileno(), 65536):
                self.pieces.append((time.monotonic() - began, piece.decode("utf-8", "replace")))

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        looks = [self.seconds * 0.6, self.seconds * 0.9] if py_spy else []
        self.cpu_s = 0
        while (now := time.monotonic() - began) < self.seconds and child.poll() is None:
            memory, self.cpu_s = memory_and_cpu(child.pid)
            self.memory.append((now, memory))
            if looks and now > looks[0]:
                looks.pop(0)
                self.stacks.append(stacks(py_spy, child.pid))
            time.sleep(0.4)
        self.ended = child.poll()
        for one in reversed(family(child.pid)):
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        reader.join(3)

    def lines(self):
        rest = ""
        for when, text in self.pieces:
            *whole, rest = re.split(r"[\r\n\x08]+", rest + re.sub(r"\x1b\[[0-9;]*[mK]", "", text))
            yield from ((when, line.strip()) for line in whole if line.strip())
        if rest.strip():
            yield self.pieces[-1][0], rest.strip()

    def told(self, table):
        """[(time, steps so far)] and [(time, loss)] by what was printed."""
        steps, losses = [], []
        epoch = done = 0
        for when, line in self.lines():
            if table["step"] == "keras":
                if match := re.match(r"Epoch (\d+)/", line):
                    epoch = int(match[1]) - 1
                if (match := re.match(r"(\d+)/(\d+|Unknown)\b", line)) and match[1] != "0":
                    done = max(done, epoch * (int(match[2]) if match[2].isdigit() else 0) + int(match[1]))
                    steps.append((when, done))
            elif match := re.search(table["step"], line):
                groups = [int(float(group)) for group in match.groups()]
                done = groups[0] * table["per_epoch"] + groups[1] if len(groups) == 2 else groups[0] if groups else done + 1
                steps.append((when, done))
            if table.get("loss") and (match := re.search(table["loss"], line)):
                with contextlib.suppress(ValueError):
                    losses.append((when, float(match[1].strip(",;)"))))
        return steps, losses

    def summary(self, table):
        steps, losses = self.told(table)
        values = [value for _, value in losses]
        part = max(1, len(values) // 5)
        late = self.memory[len(self.memory) // 2:]
        out = {"ended": self.ended, "cpu_s": round(self.cpu_s, 1), "steps": steps[-1][1] if steps else 0,
               "first_step_s": round(steps[0][0], 1) if steps else None, "last_step_s": round(steps[-1][0], 1) if steps else None,
               "longest_pause_s": round(max((b[0] - a[0] for a, b in zip(steps, steps[1:])), default=0), 1),
               "rss_mb": [round(m) for _, m in self.memory[::max(1, len(self.memory) // 10)]],
               "late_rss_mb": [round(late[0][1]), round(late[len(late) // 2][1]), round(late[-1][1])] if late else [0, 0, 0]}
        if values:
            out["loss_begins"], out["loss_ends"] = sum(values[:part]) / part, sum(values[-part:]) / part
            out["losses"] = [round(v, 5) for v in values[::max(1, len(values) // 10)]]
        if self.ended is not None:
            out["last_words"] = [line for _, line in self.lines()][-6:]
        return out


def goes_on(one, seconds):
    return one["ended"] is None and one["last_step_s"] is not None and one["last_step_s"] > 0.75 * seconds


def slow(run, table, seconds):
    pairs, ratios = [], []
    while len(pairs) < 2 and (not ratios or ratios[0] < 2):
        bad, good = run("programs").summary(table), run("cured").summary(table)
        pairs.append([bad, good])
        ratios.append(round(good["steps"] / max(1, bad["steps"]), 2))
    alive = all(one["ended"] is None for pair in pairs for one in pair)
    return alive and min(ratios) >= 1.3, {"pairs": pairs, "ratios": ratios}


def stuck(run, table, seconds):
    seen = run("programs", spy=True)
    bad, good = seen.summary(table), run("cured").summary(table)
    same = len(seen.stacks) == 2 and bool(seen.stacks[0]) and seen.stacks[0] == seen.stacks[1]
    quiet = bad["last_step_s"] is None or bad["last_step_s"] < 0.5 * seconds
    return bad["ended"] is None and same and quiet and goes_on(good, seconds), {
        "faulty": bad, "cured": good, "same_place_twice": same, "stacks": seen.stacks[:1]}


def memory(run, table, seconds):
    bad, good = run("programs").summary(table), run("cured").summary(table)
    first, middle, last = bad["late_rss_mb"]
    grown, twin = last - first, good["late_rss_mb"][2] - good["late_rss_mb"][0]
    steady = middle - first > grown / 5 and last - middle > grown / 5
    return bad["ended"] is None and goes_on(good, seconds) and grown > 25 and steady and twin < grown / 3, {"faulty": bad, "cured": good}


def learning(run, table, seconds):
    bad, good = run("programs").summary(table), run("cured").summary(table)
    holds = bad["ended"] is None and goes_on(good, seconds) and "loss_ends" in bad and "loss_ends" in good
    if holds:
        falls = good["loss_ends"] < good["loss_begins"]
        holds = falls and (not math.isfinite(bad["loss_ends"]) or bad["loss_ends"] > 1.5 * good["loss_ends"])
    return holds, {"faulty": bad, "cured": good}


def healthy(run, table, seconds):
    one = run("programs").summary(table)
    first, _, last = one["late_rss_mb"]
    falls = "loss_ends" not in one or one["loss_ends"] < one["loss_begins"]
    begins = one["first_step_s"] is not None and one["first_step_s"] <= 15
    return goes_on(one, seconds) and begins and falls and last - first < 40, {"program": one}


KINDS = {f.__name__: f for f in (slow, stuck, memory, learning, healthy)}


def prove(folder, name, table, pythons, py_spy):
    fields, _ = header_of(folder / "programs" / f"{name}.py")
    seconds, python = int(fields["seconds"]), pythons[fields["python"]]

    def run(which, spy=False):
        return Run(python, folder / which / f"{name}.py", seconds, py_spy if spy else None)

    holds, numbers = KINDS[table["kind"]](run, table, seconds)
    return {"holds": bool(holds), "kind": table["kind"], "seconds": seconds, **numbers}


@contextlib.contextmanager
def alone(path):
    if not path:
        yield
        return
    with open(path, "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--py-spy", default="py-spy")
    parser.add_argument("--lock", default="")
    parser.add_argument("--lanes", type=int, default=1)
    options = parser.parse_args()
    pythons = dict(each.split("=", 1) for each in options.python)
    programs = json.loads(options.table.read_text())
    writing = threading.Lock()

    def prove_one(name):
        with alone(options.lock):
            proof = prove(options.table.parent, name, programs[name], pythons, options.py_spy)
        with writing:
            now = json.loads(options.table.read_text())
            now[name]["proof"] = proof
            rows = (f" {json.dumps(each)}: {json.dumps(now[each], sort_keys=True)}" for each in sorted(now))
            options.table.write_text("{\n" + ",\n".join(rows) + "\n}\n")
            print(name, "holds" if proof["holds"] else "DOES NOT HOLD", proof.get("ratios", ""), flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.lanes) as lanes:
        for _ in lanes.map(prove_one, options.names or programs):
            pass


if __name__ == "__main__":
    main()
