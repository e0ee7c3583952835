"""Makes the screenshots of docs: screenshots.py BUILD SITE (a build with the command line, and what `make docs` made).

  docs/report.png    the report of a recorded run on a GPU
  docs/live.png      the live view of the same run while it was under way
  docs/site.png      the site, with a search

What they show is recorded in tests/scenarios, so that they look the same wherever they are made.
"""

import fcntl
import html
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import pyte
from PIL import Image, ImageChops

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
from browser import BROWSER, SWITCHES, needs_browser  # noqa: E402

TRACE = ROOT / "tests/scenarios/dataloader-workers.two-beside-a-gpu.live.trace"
ROWS, COLUMNS = 30, 110
MOST_BYTES = 300_000
TERMINAL_STYLE = """body { margin: 0; background: #12161c; } pre { margin: 0; padding: 18px 22px; display: inline-block; color: #d5dbe3;
font: 15px/1.3 "DejaVu Sans Mono", monospace; }"""
COLORS = {"red": "#ff6b74", "green": "#4cc38a", "brown": "#e3b341", "yellow": "#e3b341", "blue": "#79a9ff", "magenta": "#c792ea",
          "cyan": "#5fd0e0", "white": "#ffffff", "black": "#5b6675"}


def photograph(url, picture, profile, width, height, *switches):
    """The page as an image, without the empty lines below it."""
    subprocess.run([BROWSER, *SWITCHES, f"--user-data-dir={profile}", f"--window-size={width},{height}", "--hide-scrollbars",
                    *switches, f"--screenshot={picture}", url], capture_output=True, check=True, timeout=120)
    image = Image.open(picture).convert("RGB")
    ground = Image.new("RGB", image.size, image.getpixel((image.width - 1, image.height - 1)))
    _, _, _, bottom = ImageChops.difference(image, ground).getbbox()
    image = image.crop((0, 0, image.width, min(image.height, bottom + 24)))
    image.quantize(128, dither=Image.Dither.NONE).save(picture, optimize=True)
    size = picture.stat().st_size
    print(f"{picture}: {image.width}x{image.height}, {size:,} bytes")
    if size > MOST_BYTES:
        raise SystemExit(f"{picture} has more than {MOST_BYTES:,} bytes; show less on it")


def terminal_of(command, seconds):
    """What a terminal shows after so many seconds of the command."""
    process, own = pty.fork()
    if process == 0:
        os.execvpe(command[0], command, {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"})
    fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen = pyte.Screen(COLUMNS, ROWS)
    stream, until = pyte.ByteStream(screen), time.monotonic() + seconds
    while time.monotonic() < until:
        if select.select([own], [], [], 0.1)[0]:
            stream.feed(os.read(own, 65536))
    os.kill(process, 15)
    os.waitpid(process, 0)
    os.close(own)
    return screen


def page_of(screen):
    """The cells of a terminal as a page."""
    lines = []
    for row in range(ROWS):
        line = ""
        for column in range(COLUMNS):
            cell = screen.buffer[row][column]
            color = COLORS.get(cell.fg.removeprefix("bright"), f"#{cell.fg}" if len(cell.fg) == 6 else "inherit")
            weight = "bold" if cell.bold else "normal"
            line += f'<span style="color:{color};font-weight:{weight}">{html.escape(cell.data)}</span>'
        lines.append(line)
    return f"<!doctype html><meta charset=utf-8><style>{TERMINAL_STYLE}</style><pre>{chr(10).join(lines)}</pre>"


def under_way(trace, share=0.7):
    """The first part of a recorded run."""
    lines = trace.read_text().splitlines()
    return "\n".join(lines[:int(share * len(lines))]) + "\n"


def main(build, site):
    needs_browser()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        profile, headway = folder / "profile", build / "headway"
        subprocess.run([headway, "doctor", TRACE, "--html", folder / "report.html"], stdout=subprocess.DEVNULL)
        photograph(f"file://{folder}/report.html", ROOT / "docs/report.png", profile, 1200, 5000)
        (folder / "run.trace").write_text(under_way(TRACE))
        screen = terminal_of([str(headway), "doctor", str(folder / "run.trace"), "--follow"], 3)
        (folder / "live.html").write_text(page_of(screen))
        photograph(f"file://{folder}/live.html", ROOT / "docs/live.png", profile, 1040, 640)
        photograph(f"file://{site}/guide/3-why-is-it-slow.html?q=deadlock", ROOT / "docs/site.png", profile, 1360, 900)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
