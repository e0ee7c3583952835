"""The pages of docs/causes: their sections, their links, and every snippet in them.

  snippets_test.py COMPILER          Python parses, C++ compiles against the headers, bash parses
  snippets_test.py --run PYTHON      also runs the blocks marked ```python run, with that Python
Prints each breach as file:line and ends with status 1 when there is one.
"""

import re
import subprocess
import sys
import tempfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "causes"
INDEX = PAGES / "README.md"
SECTIONS = ["How it looks", "Why", "How to be sure", "Fix", "Not to be confused with"]
LINES = range(25, 61)  # what one reads at 2 a.m.

# What snippets may use without saying where it comes from.
PRELUDE = """
#include <cmath>
#include <cstdio>
#include "headway/core/limits.h"
#include "headway/io/records/tfrecord_writer.h"
#include "headway/train/train.h"
using namespace headway;
extern Model model;                      // compiled, if the snippet does not do so
extern const Dataset photos, others;     // "image" and "label"; others to validate on
extern const std::vector<std::string> paths;
extern const Tensor x, y;
void train_on(const Batch&);
"""

Block = namedtuple("Block", "page line language options code")


def blocks_of(page):
    """Fenced blocks, wherever they stand; a fence without a language is plain text."""
    found, start, info, code = [], None, "", []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if not line.strip().startswith("```"):
            code.append(line)
        elif start is None:
            start, info, code = number, line.strip()[3:].split(), []
        else:
            found.append(Block(page, start, info[0] if info else "", info[1:], "\n".join(code)))
            start = None
    if start is not None:
        found.append(Block(page, start, "unclosed", [], ""))
    return found


def prose_of(page):
    """The page with its blocks left empty, so that line numbers stay."""
    blank = lambda block: "\n" * block.group(0).count("\n")
    return re.sub(r"^```.*?^```", blank, page.read_text(), flags=re.S | re.M)


def at(page, line, reason):
    return f"{page.relative_to(ROOT)}:{line}: {reason}"


def check_python(block):
    try:
        compile(block.code, str(block.page), "exec")
    except SyntaxError as e:
        yield at(block.page, block.line + (e.lineno or 0), f"python: {e.msg}")


def check_bash(block):
    done = subprocess.run(["bash", "-n"], input=block.code, capture_output=True, text=True)
    if done.returncode:
        yield at(block.page, block.line, f"bash: {done.stderr.strip()}")


def check_cpp(blocks, compiler):
    """All of them in one file, each in a function of its own; #line leads errors to the page."""
    text = PRELUDE
    for number, block in enumerate(blocks):
        here = f'#line {block.line + 1} "{block.page.relative_to(ROOT)}"\n'
        lines = block.code.splitlines()
        text += "".join(line + "\n" for line in lines if line.startswith("#include"))
        body = "\n".join("" if line.startswith("#include") else line for line in lines)
        text += f"[[maybe_unused]] static void snippet_{number}() {{\n{here}{body}\n}}\n"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "snippets.cpp"
        source.write_text(text)
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-w", f"-I{ROOT}", str(source)],
                              capture_output=True, text=True)
    errors = [line for line in done.stderr.splitlines() if re.search(r"\berror\b", line)]
    yield from (errors or done.stderr.splitlines()) if done.returncode else []


def check_links(page, names):
    for number, line in enumerate(prose_of(page).splitlines(), 1):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
            if "://" not in target and not (page.parent / target).resolve().exists():
                yield at(page, number, f"no such file: {target}")
        for text, target in re.findall(r"\[([^\]]+)\]\(([\w-]+)\.md\)", line):
            if text in names and text != target:
                yield at(page, number, f"{text} leads to {target}")


def check_form(page):
    text = page.read_text()
    lines = text.splitlines()
    if len(lines) not in LINES:
        yield at(page, len(lines), f"{len(lines)} lines; wanted {LINES.start} to {LINES.stop - 1}")
    if not lines or not lines[0].startswith("# ") or len(lines) < 3 or not lines[2].startswith("**"):
        yield at(page, 1, "begins with a title, an empty line and the answer in bold")
    found = re.findall(r"^## (.+)$", prose_of(page), flags=re.M)
    if found != SECTIONS:
        yield at(page, 1, f"sections are {found}, wanted {SECTIONS}")
    tail = text.rsplit("## Not to be confused with", 1)[-1]
    if not re.search(r"\]\([\w-]+\.md\)", tail):
        yield at(page, len(lines), "no neighbour is linked")


def check_index(pages):
    listed = re.findall(r"^\| \w\d+ \| \[([\w-]+)\]\(\1\.md\) \|", INDEX.read_text(), flags=re.M)
    symptoms = INDEX.read_text().split("## All ids")[0]
    names = [page.stem for page in pages]
    for name in sorted(set(listed) ^ set(names)):
        yield at(INDEX, 1, f"{name}: either a page or a row of the table is missing")
    for name in names:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
            yield at(INDEX, 1, f"{name} is not kebab-case")
        if f"({name}.md)" not in symptoms:
            yield at(INDEX, 1, f"no symptom leads to {name}")


def run_block(block, python):
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run([python, "-c", block.code], cwd=folder, capture_output=True,
                                  text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return at(block.page, block.line, "does not end within 300 s")
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1]
        if reason.startswith("ModuleNotFoundError"):  # another framework's: run it with that Python
            return print(at(block.page, block.line, f"skipped: {reason}"))
        return at(block.page, block.line, "fails: " + reason)
    print(at(block.page, block.line, "runs"), *done.stdout.splitlines()[-8:], sep="\n    ")
    return None


def main(arguments):
    pages = sorted(page for page in PAGES.glob("*.md") if page != INDEX)
    blocks = [block for page in [INDEX, *pages] for block in blocks_of(page)]
    of = lambda language: [block for block in blocks if block.language == language]
    names = {page.stem for page in pages}

    found = list(check_index(pages))
    for page in pages:
        found += check_form(page)
    for page in [INDEX, *pages]:
        found += check_links(page, names)
    known = {"python", "cpp", "bash", ""}
    found += [at(b.page, b.line, f"a block of {b.language}") for b in blocks if b.language not in known]
    found += [breach for block in of("python") for breach in check_python(block)]
    found += [breach for block in of("bash") for breach in check_bash(block)]
    if arguments[:1] == ["--run"]:
        with ThreadPoolExecutor(2) as pool:
            runnable = [block for block in of("python") if "run" in block.options]
            found += filter(None, pool.map(lambda b: run_block(b, arguments[1]), runnable))
    else:
        found += check_cpp(of("cpp"), arguments[0] if arguments else "c++")

    for breach in found:
        print(breach)
    print(f"{len(pages)} pages, {len(of('python'))} Python, {len(of('cpp'))} C++ and "
          f"{len(of('bash'))} bash snippets, {len(found)} breaches")
    return 1 if found or not pages or not of("cpp") or not of("python") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
