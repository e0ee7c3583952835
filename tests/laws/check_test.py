"""headway/check/README.md lists what `headway check` says: every id of a line and every key of its JSON, and no other id;
and every page that a line leads to exists.

Prints each breach and ends with status 1 when there is one.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOM = ROOT / "headway/check"
README = (ROOM / "README.md").read_text()

LINE = re.compile(r'\b(?:good|doubtful|wrong|not_seen|add)\(\s*"([a-z0-9-]+)"')
PAGE = re.compile(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"\}\)?;')
KEY = re.compile(r'\{\s*"([a-z_]+)",')


def judges():
    return [path for path in sorted((ROOM / "judge").glob("*.cpp")) if not path.stem.endswith("_test")]


def listed_ids():
    table = README.split("| `id` |")[1].split("**JSON.**")[0]
    return {name for row in table.splitlines() for name in re.findall(r"`([a-z-]+)`", row.split("|")[1] if "|" in row else "")}


def breaches():
    used = {name for path in judges() for name in LINE.findall(path.read_text())}
    for name in sorted(used ^ listed_ids()):
        yield f"{name}: a line of headway/check/judge or a row of headway/check/README.md is missing"
    pages = {name for path in judges() for name in PAGE.findall(path.read_text())}
    for name in sorted(pages - used):
        if not (ROOT / "docs/causes" / f"{name}.md").is_file():
            yield f"{name}: no such page in docs/causes"
    keys = set(KEY.findall((ROOM / "report.cpp").read_text()))
    for name in sorted(keys):
        if f"`{name}`" not in README:
            yield f"{name}: a key of the JSON that headway/check/README.md does not explain"
    if len(used) < 20 or len(pages) < 8 or len(keys) < 20:
        yield f"only {len(used)} ids, {len(pages)} pages and {len(keys)} keys were found"


if __name__ == "__main__":
    found = list(breaches())
    print("\n".join(found) or "all listed")
    sys.exit(1 if found else 0)
