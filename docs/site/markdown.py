"""Markdown and code as HTML, with the headings and words of a page for navigation and search."""

import html
import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from mdit_py_plugins.anchors import anchors_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

PLAIN = HtmlFormatter(nowrap=True)
NUMBERED = HtmlFormatter(nowrap=True, linespans="L", lineanchors="")


@dataclass
class Section:
    heading: str
    anchor: str
    level: int
    words: list = field(default_factory=list)


@dataclass
class Rendered:
    body: str
    sections: list


def colored(code, language, _attributes=""):
    """For a fence: its language is the first word behind the backticks."""
    try:
        lexer = get_lexer_by_name(language) if language else TextLexer()
    except ClassNotFound:
        lexer = TextLexer()
    kind = {"bash": "command", "text": "output"}.get(language)
    return f'<pre{f" class={kind!r}" if kind else ""}><code class="code">{highlight(code, lexer, PLAIN)}</code></pre>'


def colored_file(name, text):
    try:
        lexer = get_lexer_for_filename(name)
    except ClassNotFound:
        lexer = TextLexer()
    return f'<pre class="file"><code class="code">{highlight(text, lexer, NUMBERED)}</code></pre>'


def slug(title):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def text_of(inline):
    return "".join(child.content if child.type in ("text", "code_inline") else " " if child.type == "softbreak" else ""
                   for child in inline.children)


def sections_of(tokens):
    """Headings with the words below each; what stands before the first one belongs to the page."""
    found = [Section("", "", 1)]
    for i, token in enumerate(tokens):
        if token.type == "heading_open":
            found.append(Section(text_of(tokens[i + 1]), token.attrGet("id"), int(token.tag[1])))
        elif token.type == "inline" and tokens[i - 1].type != "heading_open":
            found[-1].words.append(text_of(token))
        elif token.type in ("fence", "code_block"):
            found[-1].words.append(token.content)
    return [section for section in found if section.heading or section.words]


class Renderer:
    """`link(target, is_image)` says where a link of the page leads in the site; `code_link(text)` where a piece of
    code in the text leads, or None."""

    def __init__(self, link, code_link):
        self.markdown = MarkdownIt("commonmark", {"highlight": colored}).enable(["table", "strikethrough"])
        self.markdown.use(anchors_plugin, max_level=4, slug_func=slug)
        self.link, self.code_link = link, code_link

    def render(self, text):
        tokens = self.markdown.parse(text)
        sections = sections_of(tokens)
        for token in tokens:
            if token.type == "inline":
                self.follow(token)
        body = self.markdown.renderer.render(tokens, self.markdown.options, {})
        body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        return Rendered(body, sections)

    def follow(self, inline):
        in_link = False
        for child in inline.children:
            if child.type == "link_open":
                in_link = True
                child.attrSet("href", self.link(child.attrGet("href"), False))
            elif child.type == "link_close":
                in_link = False
            elif child.type == "image":
                child.attrSet("src", self.link(child.attrGet("src"), True))
            elif child.type == "code_inline" and not in_link and (target := self.code_link(child.content)):
                shown = html.escape(child.content)
                child.type, child.content = "html_inline", f'<a class="place" href="{html.escape(target)}"><code>{shown}</code></a>'
