"""The public headers (cmake/public_headers.cmake) as pages: what a comment says as text, what it is about as code."""

import html
import re
from dataclasses import dataclass

from contents import ROOT

LISTS = ROOT / "cmake" / "public_headers.cmake"
SMALL_PRINT = "// ---- the small print ----"
TYPE = re.compile(r"^(?:template <[^;{]*>\s*)?(class|struct|enum class|enum)\s+(\w+)")
ALIAS = re.compile(r"^using\s+(\w+)\s*=")
CONSTANT = re.compile(r"^(?:inline\s+)?constexpr\s+[\w:<>]+\s+(k\w+)")
NAMESPACE = re.compile(r"^namespace headway(?P<inner>::\w+)? \{\n(?P<text>.*?)^\}  // namespace headway", re.S | re.M)


@dataclass
class Entity:
    kind: str  # class, struct, enum, function ...
    names: list
    comment: str
    code: str


@dataclass
class Header:
    path: str
    promise: str  # stable, growing
    about: str
    includes: list  # other public headers
    entities: list


def headers():
    """(path, promise) of all public headers, as the list says."""
    found = []
    for name, entries in re.findall(r"set\(HEADWAY_(\w+)_HEADERS\n(.*?)\)", LISTS.read_text(), re.S):
        promise = "growing" if name == "GROWING" else "stable"
        found += [(path, promise) for path in re.findall(r"headway/[\w/]+\.h", entries)]
    return found


def without_bodies(code):
    """Functions end in a semicolon where their body stood."""
    out, i = "", 0
    while i < len(code):
        if code[i] == "{" and re.search(r"\)\s*(?:const\s*)?(?:noexcept\s*)?(?:override\s*)?$", out):
            i = end_of_block(code, i)
            out = re.sub(r"\)\s*:\s*\w+[({](?:[^;]*)$", ")", out.rstrip()) if initialises(out) else out.rstrip()
            out += ";"
            continue
        out += code[i]
        i += 1
    return out


def initialises(text):
    """Does the last declaration end in `: member_(value)`?"""
    last = re.split(r"[;}]\s*\n", text)[-1]
    return re.search(r"\)\s*(?:noexcept\s*)?:\s*\w+\(", last) is not None


def end_of_block(code, start):
    depth = 0
    for i in range(start, len(code)):
        depth += (code[i] == "{") - (code[i] == "}")
        if depth == 0:
            return i + 1
    raise ValueError(f"a block without an end: {code[start:start + 60]}")


def without_private(code):
    return re.sub(r"\n private:\n.*?(?=^\};)", "\n", code, flags=re.S | re.M).replace("\n\n};", "\n};")


def comment_before(text):
    return "\n".join(line for line in text.splitlines() if line.startswith("//"))


def ends_type(line):
    return re.sub(r"\s*//.*", "", line).endswith("};")


def groups(text):
    """(comment, code) of what stands together: separated by empty lines, by a comment, where a type begins or ends."""
    found, comment, code, depth = [], [], [], 0
    for line in [*text.splitlines(), ""]:
        new = depth == 0 and code and (not line.strip() or line.startswith("//") or ends_type(code[-1]) or
                                       (TYPE.match(line) and not code[-1].startswith("template")))
        if new:
            found.append(("\n".join(comment), "\n".join(code)))
            comment, code = [], []
        if depth == 0 and line.startswith("//"):
            comment.append(line)
        elif line.strip() or depth:
            code.append(line)
        elif not code:  # a comment about what follows in general
            comment = []
        plain = re.sub(r'//.*|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'', "", line)
        depth += sum(plain.count(c) for c in "{(") - sum(plain.count(c) for c in "})")
    return found


def entity(comment, code):
    code = without_bodies(without_private(code)).strip("\n")
    first = code.lstrip()
    if declared := TYPE.match(first):
        if re.match(r"^[^{]*;$", first):
            return None  # declared in advance
        return Entity(declared[1].split()[0], [declared[2]], comment, code)
    if constants := re.findall(CONSTANT.pattern, code, re.M):
        return Entity("constant", constants, comment, code)
    if aliases := re.findall(ALIAS.pattern, code, re.M):
        return Entity("type", aliases, comment, code)
    top = re.sub(r"//.*", "", code)
    top = re.sub(r"\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*\)", "()", top)
    names = list(dict.fromkeys(re.findall(r"(\w+|operator\S+?)\(\)", top)))
    return Entity("function", names, comment, code) if names else None


def read_header(path, promise):
    """What is declared in namespace headway, and the comment that stands before it."""
    text = (ROOT / path).read_text()
    spaces = list(NAMESPACE.finditer(text))
    header = Header(path, promise, comment_before(text[:spaces[0].start()] if spaces else text),
                    re.findall(r'^#include "(headway/[^"]+)"', text, re.M), [])
    for space in spaces:
        prefix = f"{space['inner'][2:]}::" if space["inner"] else ""
        for comment, code in groups(space["text"].split(SMALL_PRINT)[0]):
            if found := entity(comment, code):
                found.names = [prefix + name for name in found.names]
                header.entities.append(found)
    return header


def prose(comment):
    """A comment as HTML: paragraphs, and its indented lines as code. Lines with ---- are rules of the source."""
    lines = [line[2:].removeprefix(" ") for line in comment.splitlines() if "// ----" not in line]
    out, paragraph, code = [], [], []

    def close():
        if paragraph:
            text = html.escape(" ".join(paragraph), quote=False)
            out.append("<p>" + re.sub(r"`([^`]+)`", r"<code>\1</code>", text) + "</p>")
        if code:
            out.append(("code", "\n".join(code)))
        paragraph.clear(), code.clear()

    for line in lines:
        if not line.strip():
            close()
        elif line.startswith("  "):
            if paragraph:
                close()
            code.append(line[2:])
        else:
            if code:
                close()
            paragraph.append(line.strip())
    close()
    return out
