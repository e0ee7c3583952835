"""The laws of the rooms: who may include whom, and what must not appear where.

Prints each breach as file:line and ends with status 1 when there is one.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MAY_INCLUDE = {
    "core": set(),
    "trace": {"core"},
    "io": {"core"},
    "image": {"core"},
    "data": {"image", "io", "trace", "core"},
    "observe": {"data", "view", "doctor", "trace", "core"},
    "train": {"observe", "data", "view", "doctor", "io", "trace", "core"},
    "doctor": {"trace", "core"},
    "probe": {"trace", "core"},
    "view": {"doctor", "io", "trace", "core"},
    "check": {"probe", "trace", "core"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
TORCH = re.compile(r"^(torch|ATen|c10)/")
CUDA = re.compile(r"^(cuda|cudnn|cublas|nvjpeg|nccl|nvml|npp)\w*\.h|^cuda/")
# A home of somebody's machine; /home/user and the like in prose are caught too: say ~ instead.
HOME = re.compile(r"(?<![\w.])/(home|root|Users)/\w")
# Whatever is read from a file is read within limits: headway/core/json.h, cli/flat_toml.h.
UNBOUNDED = re.compile(r"\bjson::(parse|accept|sax_parse)\(|\btoml::parse", re.IGNORECASE)
READER = "headway/core/json.cpp"
# Text on its way to a terminal. One way shows what would steer it: core/print.
WRITES = re.compile(r"\bfmt::print\(|std::(cout|cerr|clog)\b|\bf?(printf|puts|putc)\(")
MAY_WRITE = {"headway/core/print.h", "headway/core/print.cpp"}
CODE = {".h", ".cpp", ".cu", ".py", ".sh", ".cmake", ".txt", ".json", ".toml", ".md", ""}


def tracked_files():
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    skip = {"build", ".git"}  # a tarball: no git to ask
    return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
            if path.is_file() and not skip & set(path.relative_to(ROOT).parts)]


def breach_of_include(name, room, included):
    """Why file `name` in `room` may not include `included`, or None."""
    if TORCH.match(included) and room != "train":
        return f"{included}: torch belongs in headway/train"
    if CUDA.match(included):
        return f"{included}: CUDA's functions are found at run time (headway/train/device/device.cpp)"
    if not included.startswith("headway/") or included.count("/") < 2:
        return None
    other = included.split("/")[1]
    if other == room or other in MAY_INCLUDE[room]:
        return None
    return f"{included}: {room} may include {sorted(MAY_INCLUDE[room]) or 'no other room'}"


def breaches(name):
    text = (ROOT / name).read_text(errors="replace")
    parts = name.split("/")
    room = parts[1] if parts[0] == "headway" and len(parts) > 2 else None
    if room is not None and room not in MAY_INCLUDE:
        yield 1, f"no room called {room}"
        return
    if name.endswith(".h") and "#pragma once" not in text:
        yield 1, "#pragma once is missing"
    shipped = parts[0] in ("headway", "cli") and name.endswith((".h", ".cpp")) and not name.endswith("_test.cpp")
    for number, line in enumerate(text.splitlines(), 1):
        if shipped and name != READER and UNBOUNDED.search(line):
            yield number, "JSON is parsed by parse_json of headway/core/json.h, which has limits"
        if HOME.search(line) and name != "tests/laws/rooms_test.py":
            yield number, "a path into somebody's home directory"
        if WRITES.search(line) and parts[0] in ("headway", "cli") and name not in MAY_WRITE and "_test." not in name:
            yield number, "writes past headway/core/print.h"
        include = INCLUDE.match(line)
        if include and room is None and name.endswith(".h") and TORCH.match(include.group(1)):
            yield number, f"{include.group(1)}: no header outside headway/train includes torch"
        if include and room is not None:
            reason = breach_of_include(name, room, include.group(1))
            if reason:
                yield number, reason


def main():
    names = [name for name in tracked_files() if Path(name).suffix in CODE]
    found = [f"{name}:{line}: {reason}" for name in names for line, reason in breaches(name)]
    for line in found:
        print(line)
    print(f"{len(names)} files, {len(found)} breaches")
    return 1 if found or not names else 0


if __name__ == "__main__":
    sys.exit(main())
