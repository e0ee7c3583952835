"""What the site holds: its pages, in the order of the navigation."""

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CAUSES = "docs/causes/README.md"
ABOUT = {"docs/score.md": "How often it is right", "docs/stability.md": "What stays", "docs/seeds.md": "The eight questions",
         "CHANGELOG.md": "Changes", "CONTRIBUTING.md": "Contributing", "SECURITY.md": "Security"}


@dataclass
class Page:
    source: str  # in the repository
    target: str  # in the site
    title: str   # in the navigation


@dataclass
class Group:
    title: str
    pages: list = field(default_factory=list)


def title_of(source):
    """The heading of a Markdown file, without what stands behind a colon."""
    heading = re.search(r"^# (.+)$", (ROOT / source).read_text(), re.M)[1]
    return re.sub(r"[*`]", "", heading.split(": ")[0])


def target_of(source):
    if source == "README.md":
        return "index.html"
    path = Path(source)
    name = "index" if path.name == "README.md" else path.stem
    if path.parts[0] == "docs":
        return str(Path(*path.parts[1:-1], f"{name}.html"))
    if path.name == "README.md":
        return "rooms/" + "-".join(path.parts[1:-1] if path.parts[0] == "headway" else path.parts[:-1]) + ".html"
    return f"{path.stem.lower()}.html"


def page(source, title=None):
    return Page(source, target_of(source), title or title_of(source))


def causes():
    """The causes, grouped as the table of their index is."""
    groups = []
    for line in (ROOT / CAUSES).read_text().splitlines():
        if heading := re.fullmatch(r"\| \| \*\*(.+)\*\* \| \|", line):
            groups.append(Group(f"Causes: {heading[1]}"))
        elif row := re.match(r"\| \w\d+ \| \[([\w-]+)\]", line):
            groups[-1].pages.append(page(f"docs/causes/{row[1]}.md", row[1]))
    return groups


def rooms():
    """The rooms in the order of the README, then the other folders that describe themselves."""
    listed = re.findall(r"^\| \[`(headway/\w+)`\]", (ROOT / "README.md").read_text(), re.M)
    others = ["cli", *sorted(str(path.parent.relative_to(ROOT)) for path in (ROOT / "tests").glob("*/README.md"))]
    return [page(f"{folder}/README.md", folder.removeprefix("headway/")) for folder in [*listed, *others]]


def groups():
    guide = [page(str(path.relative_to(ROOT))) for path in sorted((ROOT / "docs/guide").glob("[0-9]*.md"))]
    return [
        Group("Start", [page("README.md", "Headway"), page("docs/guide/README.md", "The guide"), *guide]),
        Group("Why is it slow or stuck?", [page(CAUSES, "All causes")]),
        *causes(),
        Group("How it works", [page("docs/architecture.md"), page("docs/tour.md"), page("docs/words.md")]),
        Group("Rooms", rooms()),
        Group("About", [page(source, title) for source, title in ABOUT.items()]),
    ]
