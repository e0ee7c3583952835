"""The site that `make docs` makes: nothing leads nowhere, every public type is there, a browser opens it from its folder."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from browser import Opened, leave_without, needs_browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "laws"))
from public_headers_test import public_headers  # noqa: E402
from words_test import definitions  # noqa: E402

PHONE_WIDTH = 390
# Measures pages in frames as wide as a phone, and writes what sticks out.
MEASURE = """<!doctype html><pre id="said"></pre><script>
for (const page of PAGES) {
  const frame = document.createElement("iframe");
  frame.style = "width: WIDTHpx; height: 800px; border: 0";
  frame.src = page;
  frame.onload = () => { said.textContent += `${page}: ${frame.contentDocument.documentElement.scrollWidth}\\n`; };
  document.body.append(frame);
}
</script>"""


def make_site(folder):
    python = subprocess.run([ROOT / "scripts/docs_setup.sh", "--where"], capture_output=True, text=True, check=True).stdout.strip()
    if not pathlib.Path(python).exists():
        leave_without("Python for the site", "scripts/docs_setup.sh installs it")
    return subprocess.run([python, "-B", ROOT / "docs/site/build.py", folder], capture_output=True, text=True)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="headway-site-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.site = cls.folder / "site"
        cls.made = make_site(cls.site)

    def opened(self, page, *switches):
        """The page in a browser; fails when its console said anything."""
        page = Opened(f"file://{self.site}/{page}", self.folder / "browser", *switches)
        self.assertEqual(page.console, [])
        return page

    def pages(self):
        return sorted(self.site.rglob("*.html"))

    def test_no_link_leads_nowhere(self):
        self.assertEqual(self.made.returncode, 0, self.made.stdout + self.made.stderr)
        self.assertGreater(len(self.pages()), 150)

    def test_nothing_comes_from_a_network(self):
        for page in [*self.pages(), self.site / "site.css"]:
            fetched = re.findall(r'(?:\bsrc="|<link[^>]*href="|url\()(?:https?:)?//[^">)]+', page.read_text())
            self.assertEqual(fetched, [], page)

    def test_every_cause_has_its_page(self):
        for page in (ROOT / "docs/causes").glob("*.md"):
            if page.name != "README.md":
                self.assertTrue((self.site / "causes" / f"{page.stem}.html").exists(), page.stem)

    def test_the_reference_has_every_public_type(self):
        seen = 0
        for header in public_headers():
            page = (self.site / "reference" / f"{header}.html").read_text()
            for name, _ in definitions((ROOT / header).read_text()):
                if re.fullmatch(r"headway::\w+", name):
                    self.assertTrue(f"<code>{name.split('::')[1]}</code></h2>" in page, f"{header}: {name}")
                    seen += 1
        self.assertGreater(seen, 150)

    def test_the_search_finds_a_cause(self):
        found = re.findall(r'<a href="([^"]+)"><b>', self.opened("index.html?q=two+threads+lock").markup)
        self.assertTrue(any("causes/lock-order.html" in link for link in found[:5]), found)

    def test_the_search_finds_a_name_of_the_reference_from_any_page(self):
        found = re.findall(r'<a href="([^"]+)"><b>', self.opened("causes/dead-relu.html?q=PipelineState").markup)
        self.assertTrue(any("reference/headway/data/pipeline.h.html" in link for link in found[:5]), found)

    def test_a_search_for_nothing_says_so(self):
        self.assertIn("nothing was found for “xyzzyq”", self.opened("index.html?q=xyzzyq").text)

    def test_pages_of_every_kind_open_without_a_word_on_the_console(self):
        for page in ("index.html", "guide/1-first-feed.html", "architecture.html", "causes/nan-loss.html", "rooms/doctor.html",
                     "reference/index.html", "reference/headway/data/dataset.h.html", "source/cmake/public_headers.cmake.html"):
            self.assertIn('id="search"', self.opened(page).markup, page)

    def test_on_a_phone_nothing_sticks_out(self):
        pages = ["index.html", "guide/1-first-feed.html", "causes/index.html", "tour.html", "architecture.html", "score.html",
                 "reference/index.html", "reference/headway/data/dataset.h.html"]
        measure = MEASURE.replace("PAGES", str(pages)).replace("WIDTH", str(PHONE_WIDTH))
        (self.site / "measure.html").write_text(measure)
        self.addCleanup((self.site / "measure.html").unlink)
        said = self.opened("measure.html", "--allow-file-access-from-files").text
        widths = dict(re.findall(r"([\w./-]+\.html): (\d+)", said))
        self.assertEqual(set(widths), set(pages))
        self.assertEqual([page for page in pages if int(widths[page]) > PHONE_WIDTH], [], widths)


if __name__ == "__main__":
    needs_browser()
    unittest.main()
