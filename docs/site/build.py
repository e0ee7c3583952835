"""Makes the site: build.py FOLDER. Opens from the folder, without a server and without a network.

Ends with status 1 and a line for each link that leads nowhere and each page that is nowhere listed.
"""

import html
import json
import os
import re
import shutil
import sys
from pathlib import Path

import reference
from contents import ROOT, Group, Page, groups
from markdown import Renderer, Section, colored, colored_file, slug

HERE = Path(__file__).resolve().parent
STATIC = ["site.css", "site.js"]
PICTURES = {".png", ".svg"}
PROMISES = {"stable": "names here stay from release to release", "growing": "members are added as causes are learnt"}


class Site:
    def __init__(self, folder):
        self.folder = folder
        self.navigation = groups()
        self.targets = {page.source: page.target for group in self.navigation for page in group.pages}
        self.files = {}     # text files that a page leads to: source -> target
        self.pictures = {}  # likewise
        self.written = {}   # target -> HTML, to check links
        self.found = []     # for the search: (title, target, sections)
        self.problems = []

    # ---- where links lead ----

    def relative(self, target, here):
        return os.path.relpath(target, Path(here).parent or ".")

    def link(self, page, target, is_image):
        if re.match(r"[a-z]+:", target):
            return target
        path, _, fragment = target.partition("#")
        source = os.path.normpath(Path(page.source).parent / path) if path else page.source
        found = self.place_of(source, is_image)
        if found is None:
            self.problems.append(f"{page.source}: {target} leads nowhere")
            return target
        return self.relative(found, page.target) + (f"#{fragment}" if fragment else "")

    def place_of(self, source, is_image=False):
        """Where the site shows a file or folder of the repository."""
        path = ROOT / source
        if path.is_dir():
            source = str(Path(source) / "README.md")
            if source not in self.targets:
                return self.place_of_folder(path)
        if source in self.targets:
            return self.targets[source]
        if not path.is_file():
            return None
        if is_image or path.suffix in PICTURES:
            return self.pictures.setdefault(source, f"pictures/{source}")
        return self.files.setdefault(source, f"source/{source}.html")

    def place_of_folder(self, path):
        """A folder without a README: its list of what is built."""
        listed = path / "CMakeLists.txt"
        return self.place_of(str(listed.relative_to(ROOT))) if listed.is_file() else None

    def code_link(self, page, text):
        """`data/dataset.cpp` in a text leads to that file."""
        if not re.fullmatch(r"[\w./-]+\.(?:h|cpp|py|cmake|txt|sh|table|md|js|css)", text):
            return None
        near = Path(page.source).parent
        for base in (near, Path("headway"), Path(".")):
            source = os.path.normpath(base / text)
            if not source.startswith("..") and (ROOT / source).is_file():
                return self.relative(self.place_of(source), page.target)
        return None

    # ---- pages ----

    def write_all(self):
        for group in self.navigation:
            for page in group.pages:
                if page.source.endswith(".md"):
                    self.write_markdown(page)
        for source, target in sorted(self.files.items()):
            self.write_file(Page(source, target, source))
        for source, target in self.pictures.items():
            (self.folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / source, self.folder / target)
        for name in STATIC:
            shutil.copyfile(HERE / name, self.folder / name)
        self.write_search()

    def write_markdown(self, page):
        renderer = Renderer(lambda target, is_image: self.link(page, target, is_image), lambda text: self.code_link(page, text))
        rendered = renderer.render((ROOT / page.source).read_text())
        self.write(page, rendered.body, rendered.sections)

    def write_file(self, page):
        text = (ROOT / page.source).read_text(errors="replace")
        self.write(page, f"<h1><code>{page.source}</code></h1>{colored_file(page.source, text)}", [])

    def write(self, page, body, sections, wide=False):
        root = self.relative(".", page.target)
        text = (HERE / "page.html").read_text()
        values = {"TITLE": html.escape(page.title), "ROOT": root, "NAVIGATION": self.navigation_of(page), "BODY": body,
                  "CONTENTS": contents_of(sections), "NEIGHBOURS": self.neighbours_of(page)}
        text = re.sub(r"%([A-Z]+)%", lambda match: values[match[1]], text)
        target = self.folder / page.target
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        self.written[page.target] = text
        if sections:
            self.found.append((page.title, page.target, sections))

    def navigation_of(self, page):
        out = []
        for group in self.navigation:
            here = any(each.target == page.target for each in group.pages)
            items = "".join(self.item(each, page) for each in group.pages)
            folded = group.title.startswith("Causes: ") or group.title.startswith("Headers: ")
            kind, _, name = group.title.partition(": ")
            title = html.escape(name.capitalize() if kind == "Causes" else name or kind)
            if folded:
                out.append(f'<details{" open" if here else ""}><summary>{title}</summary><ul>{items}</ul></details>')
            else:
                out.append(f"<h2>{title}</h2><ul>{items}</ul>")
        return "\n".join(out)

    def item(self, each, page):
        current = ' aria-current="page"' if each.target == page.target else ""
        return f'<li><a href="{self.relative(each.target, page.target)}"{current}>{html.escape(each.title)}</a></li>'

    def neighbours_of(self, page):
        """Chapters lead to the one before and the one behind."""
        chapters = [each for each in self.navigation[0].pages if each.target.startswith("guide/")]
        if page not in chapters:
            return ""
        i = chapters.index(page)
        before = chapters[i - 1] if i > 0 else None
        behind = chapters[i + 1] if i + 1 < len(chapters) else None
        links = [f'<a class="{name}" href="{self.relative(each.target, page.target)}">{html.escape(each.title)}</a>'
                 for name, each in (("before", before), ("behind", behind)) if each]
        return f'<nav class="neighbours" aria-label="chapters">{"".join(links)}</nav>'

    # ---- the reference ----

    def add_reference(self):
        """A group of the navigation for each room, and what their pages are made of."""
        self.headers = [reference.read_header(*each) for each in reference.headers()]
        self.navigation.insert(-1, Group("Reference", [Page("", "reference/index.html", "All public names")]))
        rooms = {}
        for header in self.headers:
            room = header.path.split("/")[1].removesuffix(".h")
            rooms.setdefault(room, Group(f"Headers: {room}")).pages.append(
                Page(header.path, f"reference/{header.path}.html", header.path.removeprefix("headway/")))
        self.navigation[-1:-1] = rooms.values()

    def write_reference(self):
        for header in self.headers:
            page = Page(header.path, f"reference/{header.path}.html", header.path)
            self.write(page, self.body_of(header, page), sections_of(header))
        page = Page("", "reference/index.html", "Reference: all public names")
        self.write(page, self.index_of_names(page), [Section("", "", 1, ["public names headers reference"])])

    def body_of(self, header, page):
        source = self.relative(self.place_of(header.path), page.target)
        out = [f"<h1><code>{header.path}</code></h1>",
               colored(f"#include <{header.path}>", "cpp"),
               f'<p class="promise {header.promise}"><b>{header.promise}</b>: {PROMISES[header.promise]}. '
               f'<a href="{source}">The whole header</a></p>', prose_of(header.about)]
        if not header.entities:
            links = (f'<li><a href="{self.relative(f"reference/{path}.html", page.target)}"><code>{path}</code></a></li>' for path in header.includes)
            out.append(f"<p>It includes these:</p><ul>{''.join(links)}</ul>")
        for entity, anchor in anchors_of(header):
            names = ", ".join(f"<code>{html.escape(name)}</code>" for name in entity.names)
            out.append(f'<h2 id="{anchor}">{entity.kind} {names}</h2>{prose_of(entity.comment)}{colored(entity.code, "cpp")}')
        return "\n".join(out)

    def index_of_names(self, page):
        rows = []
        for header in self.headers:
            for entity, anchor in anchors_of(header):
                target = self.relative(f"reference/{header.path}.html", page.target) + f"#{anchor}"
                for name in entity.names:
                    rows.append((name.lower(), f'<tr><td><a href="{target}"><code>{html.escape(name)}</code></a></td><td>{entity.kind}</td>'
                                               f"<td><code>{header.path}</code></td></tr>"))
        body = "".join(row for _, row in sorted(rows))
        return (f"<h1>All public names</h1><p>What a program outside this repository may use: {len(rows)} names in "
                f"{len(self.headers)} headers, made from the headers themselves.</p>"
                f'<div class="wide"><table><thead><tr><th>name</th><th>kind</th><th>header</th></tr></thead><tbody>{body}</tbody></table></div>')

    # ---- search and links ----

    def check_pages(self):
        """Every page of docs and every room is somewhere in the navigation."""
        written = {str(path.relative_to(ROOT)) for pattern in ("docs/**/*.md", "headway/*/README.md") for path in ROOT.glob(pattern)}
        for source in sorted(written - set(self.targets)):
            self.problems.append(f"{source} is no page of the site: list it in docs/site/contents.py")

    def write_search(self):
        entries = [[title, target, weight_of(target), section.level, section.heading, section.anchor, " ".join(" ".join(section.words).split())]
                   for title, target, sections in self.found for section in sections]
        words = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
        (self.folder / "search_index.js").write_text(f"window.searchIndex={words};\n")

    def check_links(self):
        anchors = {target: set(re.findall(r'\sid="([^"]+)"', text)) for target, text in self.written.items()}
        for target, text in self.written.items():
            for link in re.findall(r'(?:href|src)="([^"]+)"', text):
                if re.match(r"[a-z]+:", link):
                    continue
                path, _, fragment = html.unescape(link).partition("#")
                place = os.path.normpath(Path(target).parent / path) if path else target
                if not (self.folder / place).is_file():
                    self.problems.append(f"{target}: {link} leads nowhere")
                elif fragment and fragment not in anchors.get(place, ()):
                    self.problems.append(f"{target}: {link}: no such heading")


def weight_of(target):
    """Who searches wants to learn or to repair something first, and the history of the project last."""
    folder, name = Path(target).parts[0], Path(target).name
    return 2 if folder in ("guide", "causes") else 0.4 if name in ("score.html", "changelog.html", "seeds.html") else 1


def anchors_of(header):
    """(entity, anchor): its first name, with a number where there is another one of that name."""
    seen = {}
    for entity in header.entities:
        name = slug(entity.names[0]) or "operator"
        seen[name] = seen.get(name, 0) + 1
        yield entity, name if seen[name] == 1 else f"{name}-{seen[name]}"


def prose_of(comment):
    return "".join(colored(part[1], "cpp") if isinstance(part, tuple) else part for part in reference.prose(comment))


def sections_of(header):
    words = lambda comment: re.sub(r"^//", " ", comment, flags=re.M)
    found = [Section("", "", 1, [header.path, words(header.about)])]
    for entity, anchor in anchors_of(header):
        found.append(Section(f"{entity.kind} {', '.join(entity.names)}", anchor, 2, [words(entity.comment), entity.code]))
    return found


def contents_of(sections):
    """Headings of the page, where there are several."""
    shown = [section for section in sections if section.level == 2 and section.heading]
    if len(shown) < 3:
        return ""
    items = "".join(f'<li><a href="#{section.anchor}">{html.escape(section.heading)}</a></li>' for section in shown)
    return f'<nav class="contents" aria-label="on this page"><h2>On this page</h2><ul>{items}</ul></nav>'


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    site = Site(folder)
    site.add_reference()
    site.write_reference()
    site.write_all()
    site.check_links()
    site.check_pages()
    for problem in site.problems:
        print(problem)
    print(f"{len(site.written)} pages, {len(site.problems)} problems: {folder}/index.html")
    return 1 if site.problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
