"""docs/tour.md names what is there: every file exists, and every function stands in the file it is named with.

Prints each breach as file:line and ends with status 1 when there is one.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOUR = ROOT / "docs/tour.md"
FILE = re.compile(r"`([\w/]+/[\w.]+\.(?:cpp|h|py|md|cmake|table|txt))`")
PLACE = re.compile(FILE.pattern + r": (`[\w:]+`(?:, `[\w:]+`)*)")


def path_of(name):
    """In headway/, unless it is one of the folders beside it."""
    return next((path for path in (ROOT / "headway" / name, ROOT / name) if path.is_file()), None)


def breaches(line):
    for name in FILE.findall(line):
        if "ID" not in name and not path_of(name):
            yield f"no such file: {name}"
    for name, functions in PLACE.findall(line):
        path = path_of(name)
        for function in re.findall(r"\w+", functions) if path else []:
            if not re.search(rf"\b{function}\b", path.read_text()):
                yield f"{name} has no {function}"


def main():
    lines = TOUR.read_text().splitlines()
    found = [f"{TOUR.relative_to(ROOT)}:{n}: {breach}" for n, line in enumerate(lines, 1) for breach in breaches(line)]
    named = sum(len(PLACE.findall(line)) for line in lines)
    if named < 20:
        found.append(f"{TOUR.relative_to(ROOT)}: only {named} places were found")
    print("\n".join(found) or f"{named} places")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
