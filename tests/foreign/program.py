"""A program of the examination: its file, and what its header says is true of it.

The header is for the examiner alone. The examined never gets to see it: it is given a copy of the file whose header
lines are empty (same line numbers), under a neutral folder.
"""
import dataclasses
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "programs"
HELD_OUT = HERE / "held_out"
BLIND = HERE / "blind"  # a folder for each round
NOT_PROGRAMS = {"make_files.py", "loops.py", "stopwatch.py"}  # what programs import; it lies beside them
PYTHONS = ("tensorflow", "torch", "loops", "plain", "gpu")
FIELDS = {"python", "expected", "verdict", "seconds", "where", "severity", "how", "setup", "wrap", "env", "most-cores", "seed",
          "why", "truth"}
CAUSES = HERE.parents[1] / "docs" / "causes"


@dataclasses.dataclass
class Program:
    path: pathlib.Path
    python: str  # one of PYTHONS
    expected: str  # the id of a cause; "healthy"; "crashed" where the program's own error ends it and no cause is to blame
    accepted: list  # ids that are as good
    verdicts: list  # any of these; empty: not asked
    seconds: int  # how long it may run
    why: str
    saying_is_enough: bool = False  # nothing to repair, only to explain: a finding of severity info counts
    how: str = "run"  # or "attach"
    where: tuple = ()  # one of these stands in the source line that the finding names
    setup: tuple = ()  # a mechanism of mechanisms.py and its number
    wrap: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)
    most_cores: int = 1 << 30  # on larger machines the fault is none
    seed: str = ""
    set: str = ""  # programs, held_out, blind/round1; or the path of a folder
    trace: str = ""  # keep what was seen in this file

    @property
    def name(self):
        return self.path.stem

    @property
    def healthy(self):
        return self.expected == "healthy"

    @property
    def crashes(self):
        return self.expected == "crashed"


def round_of(name):
    """Of a set: round1 for blind/round1 (the name of its folder); None for a set that no blind author wrote."""
    return name.removeprefix("blind/") if name.startswith("blind/") else None


def all_sets():
    """In the order they were made: round 2 before round 10; then the blind sets that are no rounds."""
    folders = [folder for folder in BLIND.glob("*") if (folder / "programs").is_dir()]
    numbers = {folder: re.fullmatch(r"round(\d+)", folder.name) for folder in folders}
    folders.sort(key=lambda folder: (int(numbers[folder][1]) if numbers[folder] else 1 << 30, folder.name))
    return ["programs", "held_out", *(f"blind/{folder.name}" for folder in folders)]


def programs_of(name):
    """Every program of a set."""
    folder = HERE / name  # a path that begins at the root stays what it is
    return all_programs(folder / "programs" if round_of(name) else folder, name)


def header_lines(text):
    """The comment block that opens the file."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line[1:].strip())
    return lines


def fields_of(lines):
    """`name: value` lines; what follows `Why:` belongs to it unless it is a field again."""
    fields, last = {}, None
    for line in lines:
        match = re.match(r"([A-Za-z-]+): +(.*)", line)
        name = match[1].lower() if match else ""
        if match and (name in FIELDS or last != "why"):
            last = name
            fields[last] = match[2].strip()
        elif last == "why":
            fields["why"] += " " + line
        elif line and not line.startswith("!"):
            raise ValueError(f"not a header line: {line}")
    return fields


def known(cause):
    if cause not in ("healthy", "crashed") and not (CAUSES / f"{cause}.md").is_file():
        raise ValueError(f"no cause is called {cause}; the pages of docs/causes are the ids")
    return cause


def read_program(path, of_set=""):
    try:
        fields = fields_of(header_lines(path.read_text()))
        expected, also = re.fullmatch(r"([a-z-]+)(?: \[also accepted: ([a-z, -]+)\])?", fields.pop("expected")).groups()
        setup = fields.pop("setup", "").split()
        program = Program(
            path=path,
            python=fields.pop("python"),
            expected=known(expected),
            accepted=[known(cause.strip()) for cause in (also or "").split(",") if cause.strip()],
            verdicts=[v.strip() for v in fields.pop("verdict", "").split("|") if v.strip()],
            seconds=int(fields.pop("seconds")),
            why=fields.pop("why"),
            saying_is_enough=fields.pop("severity", "warning") == "info",
            how=fields.pop("how", "run"),
            where=tuple(w for w in fields.pop("where", "").split(" / ") if w),
            setup=(setup[0], int(setup[1])) if setup else (),
            wrap=tuple(fields.pop("wrap", "").split()),
            environment=dict(pair.split("=", 1) for pair in fields.pop("env", "").split()),
            most_cores=int(fields.pop("most-cores", 1 << 30)),
            seed=fields.pop("seed", ""),
            set=of_set,
        )
        if program.python not in PYTHONS or program.how not in ("run", "attach"):
            raise ValueError(f"python: {program.python}, how: {program.how}")
    except (ValueError, KeyError, AttributeError) as problem:
        raise SystemExit(f"{path}: bad header: {problem}") from problem
    if fields:
        raise SystemExit(f"{path}: unknown header lines: {', '.join(fields)}")
    return program


def all_programs(folder=FOLDER, of_set=""):
    return [read_program(path, of_set) for path in sorted(folder.glob("*.py")) if path.name not in NOT_PROGRAMS]


def copy_without_header(path, folder):
    """The file as the examined sees it: the header's lines are there and empty."""
    text = path.read_text()
    hidden = len(header_lines(text))
    target = folder / path.name
    target.write_text("\n".join([""] * hidden + text.split("\n")[hidden:]))
    return target
