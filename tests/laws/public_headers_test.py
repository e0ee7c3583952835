"""The public face (cmake/public_headers.cmake): every header there exists, includes public headers only, and defines no macro
without HEADWAY_. Examples and the guide's programs include nothing else of Headway; tests may.

Prints each breach as file:line and ends with status 1 when there is one.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "cmake/public_headers.cmake"
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](headway/[^>"]+)[>"]')
MACRO = re.compile(r"^\s*#\s*define\s+(?!HEADWAY_)(\w+)")


def public_headers():
    return sorted(set(re.findall(r"headway/[\w/]+\.h", LIST.read_text())))


def breaches(public):
    for name in public:
        path = ROOT / name
        if not path.is_file():
            yield f"{LIST.relative_to(ROOT)}: {name} does not exist"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if (match := INCLUDE.match(line)) and match[1] not in public:
                yield f"{name}:{number}: includes {match[1]}, which is not public"
            if match := MACRO.match(line):
                yield f"{name}:{number}: the macro {match[1]} reaches users; begin it with HEADWAY_"
    programs = [*(ROOT / "examples").glob("*.cpp"), *(ROOT / "docs/guide/programs").rglob("*.cpp")]
    for path in sorted(path for path in programs if not path.stem.endswith("_test")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if (match := INCLUDE.match(line)) and match[1] not in public:
                yield f"{path.relative_to(ROOT)}:{number}: includes {match[1]}, which is not public"


if __name__ == "__main__":
    headers = public_headers()
    found = list(breaches(headers)) if headers else [f"{LIST}: no headers listed"]
    print("\n".join(found) if found else f"{len(headers)} public headers")
    sys.exit(1 if found else 0)
