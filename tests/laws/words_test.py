"""Typed, not prose: the rooms `doctor` and `view` compare no text; no two types have one name;
`doctor` and `observe` know nothing of libtorch.

    words_test.py [BUILD_FOLDER]

With the folder of a build the libraries are looked into as well. Prints each breach as file:line and
ends with status 1 when there is one.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

LITERAL = r'(?:u8|u|U|L)?"'
COMPARES = re.compile(
    rf'(?:==|!=)\s*{LITERAL}|{LITERAL}(?:[^"\\]|\\.)*"\s*(?:==|!=)'
    rf"|\b(?:starts_with|ends_with|contains|compare)\(\s*{LITERAL}|\b(?:r?find|find_first_of)\(\s*{LITERAL}"
    r"|\bnpos\b|\bstr(?:n?casecmp|n?cmp|str)\(|\bregex_|\bstd::regex\b")
# "file: a piece of its line" -> why it compares nothing that a trace says.
ALLOWED = {
    'headway/view/canvas.cpp: text.find_first_of(" \\n")': "where a word ends, to break lines",
    'headway/view/summary_json.cpp: line.find("s_per_step")': "a key of the JSON that Headway writes",
    'headway/view/summary_json.cpp: view.find("run")': "likewise",
    "headway/view/canvas.cpp: pair.glyphs.find(c)": "which letter stands for a character that cannot be shown",
}

TORCH = re.compile(r'#\s*include\s*[<"](torch|ATen|c10)/')
NO_TORCH = ("doctor", "observe")


def without_comments(text):
    """The text with comments and raw strings blanked, line by line as before."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r'R"(\w*)\(.*?\)\1"', blank, text, flags=re.S)
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
    return token.sub(lambda m: blank(m) if m.group().startswith("/") else m.group(), text)


def sources(*rooms):
    for room in rooms:
        for path in sorted((ROOT / "headway" / room).rglob("*")):
            if path.suffix in (".h", ".cpp") and not path.stem.endswith("_test"):
                yield path


def compared_words():
    for path in sources("doctor", "view"):
        name = str(path.relative_to(ROOT))
        if path.name == "simulate.h":  # for tests
            continue
        for number, line in enumerate(without_comments(path.read_text()).splitlines(), 1):
            allowed = any(entry.startswith(name + ": ") and entry[len(name) + 2:] in line for entry in ALLOWED)
            if COMPARES.search(line) and not allowed:
                yield f"{name}:{number}: compares text: {line.strip()}"


DEFINITION = re.compile(
    r"\b(?P<kind>class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?:alignas\([^)]*\)\s*)?"
    r"(?:[A-Z_]+\([^)]*\)\s*)?(?P<name>[A-Za-z_]\w*)\s*(?:final\s*)?(?::(?!:)[^;{()]*)?\{")
OPENING = re.compile(r"\bnamespace(?P<name>\s+[\w:]+)?\s*\{")


def definitions(text):
    """(name, line) of every type defined in namespace headway itself, anonymous ones left out."""
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', '""', without_comments(text))
    opened = {m.end() - 1: ("namespace", (m.group("name") or "").strip()) for m in OPENING.finditer(text)}
    for m in DEFINITION.finditer(text):
        opened.setdefault(m.end() - 1, ("type", m.group("name"), m.start()))
    stack = []
    for at, character in enumerate(text):
        if character == "{":
            what = opened.get(at, ("block",))
            if what[0] == "type" and all(s[0] == "namespace" and s[1] for s in stack):
                where = "::".join(s[1] for s in stack)
                # a specialisation is not a type of its own
                if where and not text[max(0, what[2] - 12):what[2]].rstrip().endswith("template <>"):
                    yield f"{where}::{what[1]}", text.count("\n", 0, what[2]) + 1
            stack.append(what)
        elif character == "}" and stack:
            stack.pop()


def twice_named():
    places = defaultdict(list)
    for folder in ("headway", "cli"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp") or path.stem.endswith("_test"):
                continue
            for name, line in definitions(path.read_text()):
                places[name].append(f"{path.relative_to(ROOT)}:{line}")
    for name, found in sorted(places.items()):
        if len(found) > 1:
            yield f"{found[1]}: {name} is defined in {found[0]} too"
    if len(places) < 100:
        yield f"tests/laws: only {len(places)} types were found"


def torch_included():
    for path in sources(*NO_TORCH):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if TORCH.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: libtorch"


def torch_linked(build):
    for room in NO_TORCH:
        library = build / "rooms" / room / f"libheadway_{room}.a"
        if not library.exists():
            yield f"{library}: not built"
            continue
        symbols = subprocess.run(["nm", "-C", "--undefined-only", library], capture_output=True, text=True, check=True)
        for line in symbols.stdout.splitlines():
            if re.search(r"\b(at|c10|torch)::", line):
                yield f"{library}: {line.strip()}"
        test = build / "rooms" / room / f"{room}_test"
        if test.exists():
            linked = subprocess.run(["ldd", test], capture_output=True, text=True, check=True).stdout
            if "libtorch" in linked or "libc10" in linked:
                yield f"{test}: is linked with libtorch"


def main():
    found = [*compared_words(), *twice_named(), *torch_included()]
    if len(sys.argv) > 1:
        found += torch_linked(Path(sys.argv[1]))
    for line in found:
        print(line)
    print(f"{len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
