"""Sources that may be compiled as one (headway_room with TOGETHER) share no name in their unnamed namespaces.

Two functions of one name with other arguments would compile, and a call could go to the other one. Prints each name with
its files and ends with status 1 when there is one.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOMS = Path(__file__).resolve().parents[2] / "headway"
TYPE = re.compile(r"(?:struct|class|enum class|enum|union) (\w+)|using (\w+) =")
VALUE = re.compile(r"(?:[\w:<>,&*\[\] ]+?[ &*])(\w+)(?:\(| = |\{|;|\[)")


def rooms_together():
    for listing in sorted(ROOMS.glob("*/CMakeLists.txt")):
        text = listing.read_text()
        room = re.search(r"headway_room\(\w+(?: APART)? TOGETHER\s+SOURCES(.*?)\b(?:TESTS|USES|PRIVATE_USES)\b", text, re.S)
        if not room:
            continue
        alone = re.search(r"set_source_files_properties\(([^)]*?) PROPERTIES\s+SKIP_UNITY_BUILD_INCLUSION", text)
        alone = alone.group(1).split() if alone else []
        yield listing.parent, [name for name in re.findall(r"\S+\.cpp", room.group(1)) if name not in alone]


def unnamed_names(source):
    """What begins at the left margin between `namespace {` and its end."""
    inside = False
    for line in source.read_text().splitlines():
        if line == "namespace {":
            inside = True
        elif line == "}  // namespace":
            inside = False
        elif inside and line[:1].isalpha() and not re.match(r"using (namespace\b|[\w:]+;)", line):
            line = re.sub(r"^template <[^>]*>\s*", "", line)
            if line.startswith("constexpr "):  # several in one line, too
                yield from re.findall(r"(\w+)(?:\[\w*\])? = ", line)
            elif match := TYPE.match(line) or VALUE.match(line):
                yield next(filter(None, match.groups()))


def main():
    found, seen = [], 0
    for room, sources in rooms_together():
        files = defaultdict(set)
        for name in sources:
            for word in unnamed_names(room / name):
                files[word].add(name)
                seen += 1
        found += [f"{room.name}: {word} in {', '.join(sorted(names))}" for word, names in sorted(files.items()) if len(names) > 1]
    if seen < 300:
        found.append(f"only {seen} names were found")
    print("\n".join(found) or f"{seen} names")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
