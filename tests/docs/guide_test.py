"""The chapters of docs/guide say what is true.

  guide_test.py same                    code in a chapter stands in the program it is taken from
  guide_test.py run CHAPTER BUILD       runs the commands of a chapter, compares what they print
  guide_test.py write CHAPTER BUILD     puts what they print into the chapter, but where it shows only a part

A fence names its program behind the language: ```cpp programs/first_feed.cpp. Commands are in blocks ```bash run, or
```bash run status=3; the block ```text behind one is its output, with any numbers. A line `...` stands for any lines.
They run in a folder that looks like the root of a clone whose build is BUILD; it is removed again.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide"
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<code>.*?)^```$", re.S | re.M)
CODE = {"cpp", "python", "cmake"}
UNIT = r"(?:\s?(?:ns|us|ms|s|min|h|bytes|B|KB|MB|GB|%)(?![\w]))?"
NUMBER = re.compile(r"(?<![A-Za-z_])\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?x?" + UNIT)
PATIENCE_S = 240


def chapters():
    return sorted(GUIDE.glob("*.md"))


def chapter_of(name):
    return next(path for path in chapters() if path.stem.endswith(name))


def line_of(page, at):
    return f"{page.relative_to(ROOT)}:{page.read_text().count(chr(10), 0, at) + 1}"


def breaches(page):
    """Code that stands in no program."""
    for block in FENCE.finditer(page.read_text()):
        language, *rest = block["info"].split() or [""]
        if language == "bash":
            checked = subprocess.run(["bash", "-n"], input=block["code"], capture_output=True, text=True)
            if checked.returncode:
                yield f"{line_of(page, block.start())}: {checked.stderr.strip()}"
        if language not in CODE:
            continue
        program = GUIDE / rest[0] if rest else None
        if not program or not program.is_file():
            yield f"{line_of(page, block.start())}: a block of {language} that names no program"
        elif f"\n{block['code']}" not in f"\n{program.read_text()}":
            yield f"{line_of(page, block.start())}: does not stand in {rest[0]}"


def check_same():
    found = [breach for page in chapters() for breach in breaches(page)]
    taken = sum(block["info"].split()[:1] != [] and block["info"].split()[0] in CODE
                for page in chapters() for block in FENCE.finditer(page.read_text()))
    told = "".join(page.read_text() for page in chapters())
    found += [f"docs/guide: no chapter shows {path.name}" for path in sorted((GUIDE / "programs").rglob("*.*"))
              if f"programs/{path.relative_to(GUIDE / 'programs')}" not in told]
    print("\n".join(found) or f"{len(chapters())} chapters, {taken} pieces of programs")
    return 1 if found or not taken else 0


def masked(text):
    """The words of an output: every number is the same, and bars are left out."""
    return re.sub(r"#(?:\s#)+", "#", " ".join(re.sub(r"(?<=\s)=+(?=\s|$)", "", NUMBER.sub("#", text)).split()))


def matches(said, expected):
    """`...` on a line of its own stands for anything."""
    parts = [re.escape(masked(part)) for part in re.split(r"^\.\.\.$", expected, flags=re.M)]
    return re.fullmatch(r"\s*.*?\s*".join(parts), masked(said), re.S) is not None


def clone(folder, build):
    """A folder that looks like the root of a clone with this build, and where anything may be written below build/guide."""
    (folder / "build" / "guide").mkdir(parents=True)
    (folder / "build" / "release").symlink_to(build)
    for path in ROOT.iterdir():
        if path.name not in ("build", ".git"):
            (folder / path.name).symlink_to(path)


def run(block, folder):
    """What the commands of a block print, and whether they end with the status they should."""
    done = subprocess.run(["bash", "-e", "-c", block["code"]], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, timeout=PATIENCE_S)
    wanted = re.search(r"status=(\d+)", block["info"])
    return done.stdout.replace(f"{folder}/", ""), done.returncode == int(wanted[1] if wanted else 0), done.returncode


def follow(page, build, write):
    text, failures, ran = page.read_text(), [], 0
    with tempfile.TemporaryDirectory(prefix="headway-guide-") as folder:
        clone(Path(folder), build)
        blocks = list(FENCE.finditer(text))
        replaced = []
        for block, behind in zip(blocks, [*blocks[1:], None]):
            if block["info"].split()[:2] != ["bash", "run"]:
                continue
            said, ended_well, status = run(block, folder)
            print(f"$ {block['code']}{said}", flush=True)
            ran += 1
            if not ended_well:
                failures.append(f"{line_of(page, block.start())}: exit status {status}")
            if behind is None or behind["info"] != "text" or text[block.end():behind.start()].strip():
                continue
            partial = "...\n" in behind["code"].splitlines(keepends=True)
            if not matches(said, behind["code"]) and (partial or not write):
                failures.append(f"{line_of(page, behind.start())}: another output\n--- masked, wanted\n{masked(behind['code'])}"
                                f"\n--- masked, said\n{masked(said)}")
            if not partial:
                replaced.append((behind, said))
    if write:
        for block, said in reversed(replaced):
            lines = "\n".join(line.rstrip() for line in said.strip("\n").splitlines())
            text = f"{text[:block.start('code')]}{lines}\n{text[block.end('code'):]}"
        page.write_text(text)
    print("\n".join(failures) or f"{page.name}: {ran} blocks of commands do what the chapter says")
    return 1 if failures or not ran else 0


def main(mode, chapter="", build=""):
    if mode == "same":
        return check_same()
    return follow(chapter_of(chapter), Path(build).resolve(), write=mode == "write")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
