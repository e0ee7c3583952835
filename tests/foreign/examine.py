"""One case: a program runs under the outside eye, is stopped when its time is over, and the verdict is read."""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import tempfile
import termios
import time

import mechanisms
import processes
import program as programs
import who

# After the interrupt: TensorFlow finishes a step first, and a compiling XLA cannot be interrupted at all.
SECONDS_TO_END = 6
SECONDS_TO_ATTACH = 40


class NoVerdict(Exception):
    """The outside eye gave nothing that can be read."""


def environment(case, watcher=who.ROOT):
    """What the program gets: no GPU where the expectations are for CPUs, no byte code beside the copies. Output is held back
    as it would be: not at a desk (`run`), but behind a pipe (`attach`), whatever this shell has set."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    at_a_desk = {} if case.how == "attach" else {"PYTHONUNBUFFERED": "1"}
    no_gpu = {} if case.python == "gpu" else {"CUDA_VISIBLE_DEVICES": ""}
    return {**inherited, **at_a_desk, **no_gpu, "PYTHONDONTWRITEBYTECODE": "1",
            **watcher.environment(), **case.environment}


@contextlib.contextmanager
def start(command, **how):
    """With a session of its own, at a terminal where nobody types; both are gone afterwards."""
    ours, theirs = pty.openpty()
    try:
        yield subprocess.Popen(command, stdin=theirs, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **how)
    finally:
        os.close(theirs)
        os.close(ours)


def stop(process, spared):
    """An interrupt, as Ctrl-C would; then, for whoever is left, the hard way."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        pass
    processes.end_all_but(spared)
    process.wait()


def read_verdict(text, said):
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise NoVerdict(f"no JSON: {problem}; it said: {said.strip()[-400:] or 'nothing'}") from problem


def by_run(case, command, headway, folder, spared, watcher):
    out, log = folder / "verdict.json", folder / "said.txt"
    kept = ["--trace", str(case.trace)] if case.trace else []
    watched = [*watcher.prefix(), headway, "run", "--json-out", str(out), *kept, "--", *command]
    with open(log, "w") as said, start(watched, cwd=folder, env=environment(case, watcher), stdout=said,
                                       stderr=subprocess.STDOUT) as process:
        try:
            process.wait(case.seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            stop(process, spared)
    said = log.read_text(errors="replace")
    if not out.is_file():
        raise NoVerdict(f"{out.name} was not written; it said: {said.strip()[-400:] or 'nothing'}")
    return read_verdict(out.read_text(), said)


def by_attach(case, command, headway, folder, spared, watcher):
    """The program writes into a pipe that is read by nobody in a hurry, as behind `| tee log`."""
    tee = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    with start([*watcher.prefix(), *command], cwd=folder, env=environment(case, watcher), stdout=tee.stdin,
               stderr=subprocess.DEVNULL) as process:
        tee.stdin.close()
        try:
            time.sleep(max(case.seconds - 10, 1))
            kept = ["--trace", str(case.trace)] if case.trace else []
            done = subprocess.run([*watcher.prefix(), headway, "attach", str(process.pid), "--once", "--json", *kept],
                                  capture_output=True, text=True, timeout=SECONDS_TO_ATTACH, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as late:
            raise NoVerdict(f"attach --once gave no verdict in {SECONDS_TO_ATTACH} s") from late
        finally:
            stop(process, spared)
            tee.wait()
    return read_verdict(done.stdout, done.stderr)


def examine(case, headway, pythons, watcher=who.ROOT):
    """The verdict's JSON object. Raises mechanisms.Refused or NoVerdict."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="foreign-"))
    try:
        source = programs.copy_without_header(case.path, folder)
        for other in case.path.parent.glob("*.py"):
            if other.name in programs.NOT_PROGRAMS:
                shutil.copy(other, folder)
        watcher.check(case, headway, pythons[case.python])
        watcher.own(folder, source)
        with mechanisms.mechanism(case.setup) as prefix:
            spared = set(processes.descendants(os.getpid()))
            command = [*prefix, *case.wrap, pythons[case.python], str(source)]
            way = by_attach if case.how == "attach" else by_run
            return way(case, command, headway, folder, spared, watcher)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
