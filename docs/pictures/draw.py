"""Draws docs/pictures/*.svg: draw.py writes them, draw.py --check says whether they are as drawn.

The rooms and their arrows are held to the law of tests/laws/rooms_test.py: an arrow for each room that another one may
include, left out where it follows from other arrows.
"""

import sys
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "laws"))
from rooms_test import MAY_INCLUDE  # noqa: E402

STYLE = """
svg { color-scheme: light dark; font-family: system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
.box { stroke-width: 1.5; }
.base { fill: #eef1f5; stroke: #aab4c0; } .data { fill: #e6f0fd; stroke: #6fa3e0; }
.train { fill: #e5f5ec; stroke: #63b58a; } .watch { fill: #fdeee3; stroke: #e0935f; } .told { fill: #f3ecfb; stroke: #a98bd0; }
.name { font-size: 17px; font-weight: 650; fill: #1b2027; } .says { font-size: 13.5px; fill: #59626e; }
.title { font-size: 17px; font-weight: 650; fill: #1b2027; } .number { font-size: 11px; font-weight: 650; fill: #59626e; }
.line { fill: none; stroke: #7a8694; stroke-width: 1.6; } .head { fill: #7a8694; }
@media (prefers-color-scheme: dark) {
  .base { fill: #1d242d; stroke: #4a5563; } .data { fill: #14263d; stroke: #3f74b5; }
  .train { fill: #12291e; stroke: #3d8b63; } .watch { fill: #33210f; stroke: #b26a35; } .told { fill: #271d38; stroke: #7d5fa8; }
  .name, .title { fill: #e5e9ef; } .says, .number { fill: #9aa5b3; } .line { stroke: #8a95a3; } .head { fill: #8a95a3; }
}
"""

# room: (kind, x, y, width, what it does in a line or two)
ROOMS = {
    "train": ("train", 20, 20, 280, ["Keras' words on libtorch:", "layers, losses, fit, checkpoints"]),
    "cli": ("told", 680, 20, 260, ["the verbs of the command line:", "every room may be used here"]),
    "check": ("told", 700, 120, 240, ["does this machine fit,", "and what will a script need?"]),
    "observe": ("watch", 250, 120, 240, ["the inside eye: what a feed or", "a training does"]),
    "data": ("data", 20, 220, 280, ["datasets described, planned, run", "on many threads"]),
    "view": ("told", 410, 220, 210, ["text, JSON, a live screen,", "an HTML page"]),
    "probe": ("watch", 700, 220, 240, ["the outside eye: any Python", "training, through the kernel"]),
    "image": ("data", 20, 340, 140, ["resize, crop,", "flip, colour"]),
    "io": ("data", 180, 340, 180, ["files, TFRecord,", "JPEG, PNG"]),
    "doctor": ("told", 440, 340, 240, ["a trace in, findings out:", "causes, fixes, one verdict"]),
    "trace": ("watch", 400, 440, 540, ["what happened, and when: plain data,", "written by both eyes, read by the doctor"]),
    "core": ("base", 20, 540, 920, ["errors with a remedy, tensors, elements, random numbers, limits of the machine:", "every room may include it"]),
}
HEIGHT = 72
# (from, to): the corners of the arrow. Arrows to core are left out: it lies below all.
ARROWS = {
    ("train", "observe"): [(270, 92), (270, 120)],
    ("observe", "data"): [(275, 192), (275, 220)],
    ("observe", "view"): [(450, 192), (450, 220)],
    ("data", "image"): [(90, 292), (90, 340)],
    ("data", "io"): [(230, 292), (230, 340)],
    ("data", "trace"): [(280, 292), (280, 316), (420, 316), (420, 440)],
    ("view", "io"): [(410, 245), (335, 245), (335, 340)],
    ("view", "doctor"): [(530, 292), (530, 340)],
    ("doctor", "trace"): [(560, 412), (560, 440)],
    ("probe", "trace"): [(820, 292), (820, 440)],
    ("cli", "check"): [(820, 92), (820, 120)],
    ("check", "probe"): [(820, 192), (820, 220)],
    ("cli", "train"): [(680, 56), (300, 56)],
}

# (kind, who, what it does)
IMAGE = [
    ("base", "a file", ["photos/cat.jpg,", "one of many"]),
    ("data", "data: stage", ["a worker claims the", "next number; shuffle", "makes another of it"]),
    ("data", "io: codec", ["reads the file, gives", "the rows of the part", "that is needed"]),
    ("data", "image: resize", ["blends the rows, writes", "them straight into their", "row of the batch"]),
    ("data", "data: queue", ["a whole batch waits", "until it is asked for"]),
    ("train", "train: step", ["forward, loss,", "gradients, and the", "weights move"]),
]
STALL = [
    ("base", "a process", ["train.py prints no", "further step"]),
    ("watch", "probe: look", ["reads all stacks 20", "times a second, never", "stops the process"]),
    ("watch", "trace: counts", ["what the stacks were", "about, how often,", "since when"]),
    ("told", "doctor: ledger", ["where the time of the", "training thread went"]),
    ("told", "doctor: rules", ["each looks for one", "cause; the root comes", "before its symptoms"]),
    ("told", "view: sentence", ["stuck (12 s): two", "threads wait for locks", "the other one holds"]),
]


def text(x, y, words, kind, anchor="middle"):
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'


def box(kind, x, y, width, height, name, lines):
    middle = x + width / 2
    out = [f'<rect class="box {kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="10"/>', text(middle, y + 24, name, "name")]
    return out + [text(middle, y + 44 + 17 * i, line, "says") for i, line in enumerate(lines)]


def arrow(corners):
    """A line with rounded corners, its head at the end."""
    path = f"M{corners[0][0]} {corners[0][1]}"
    for before, here, behind in zip(corners, corners[1:], corners[2:]):
        (ax, ay), (bx, by) = toward(here, before), toward(here, behind)
        path += f" L{ax:g} {ay:g} Q{here[0]} {here[1]} {bx:g} {by:g}"
    (fx, fy), (x, y) = toward(corners[-1], corners[-2], 9), corners[-1]
    dx, dy = (x - fx) / 9, (y - fy) / 9
    path += f" L{fx:g} {fy:g}"
    head = f"{x},{y} {fx - 4.5 * dy:g},{fy + 4.5 * dx:g} {fx + 4.5 * dy:g},{fy - 4.5 * dx:g}"
    return [f'<path class="line" d="{path}"/>', f'<polygon class="head" points="{head}"/>']


def toward(here, there, distance=10):
    dx, dy = there[0] - here[0], there[1] - here[1]
    length = (dx * dx + dy * dy) ** 0.5
    return here[0] + dx * distance / length, here[1] + dy * distance / length


def svg(width, height, title, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">\n'
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n")


def rooms():
    parts = [part for corners in ARROWS.values() for part in arrow(corners)]
    for name, (kind, x, y, width, lines) in ROOMS.items():
        parts += box(kind, x, y, width, HEIGHT, name, lines)
    return svg(960, 632, "The rooms of Headway, and which may include which", parts)


def lane(y, title, steps):
    parts = [text(20, y, title, "title", "start")]
    for i, (kind, who, lines) in enumerate(steps):
        x = 20 + i % 3 * 318
        row = y + 20 + i // 3 * 130
        parts += box(kind, x, row, 264, 96, who, lines)
        parts.append(text(x + 14, row + 22, str(i + 1), "number", "start"))
        if i % 3 < 2:
            parts += arrow([(x + 264, row + 48), (x + 318, row + 48)])
        elif i + 1 < len(steps):
            parts += arrow([(x + 132, row + 96), (x + 132, row + 113), (152, row + 113), (152, row + 130)])
    return parts


def ways():
    return svg(940, 590, "The way of one image, and the way of one stall",
               [*lane(28, "One image, from its file to a training step", IMAGE), *lane(322, "One stall, from the kernel to a sentence", STALL)])


def arrows_of_the_law():
    """What each room may include, without what follows from other arrows and without core."""
    law = {**MAY_INCLUDE, "cli": set(MAY_INCLUDE)}
    reach = lambda room: set().union(*(law[each] | reach(each) for each in law[room])) if law[room] else set()
    return {(room, each) for room in law for each in law[room] - reach(room) if each != "core"}


def main(check):
    wrong = [f"{a} -> {b}" for a, b in sorted(arrows_of_the_law() ^ set(ARROWS))]
    if wrong:
        print("drawn and allowed arrows differ:", ", ".join(wrong))
    for name, drawn in (("rooms.svg", rooms()), ("ways.svg", ways())):
        if not check:
            (HERE / name).write_text(drawn)
        elif not (HERE / name).is_file() or (HERE / name).read_text() != drawn:
            wrong.append(name)
            print(f"docs/pictures/{name} is not what docs/pictures/draw.py draws; run it")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))
