"""Owns the reading of HTML pages: headings and paragraphs out, code, tables and navigation left behind."""

from html.parser import HTMLParser

SKIPPED = frozenset(("script", "style", "pre", "nav", "footer", "header", "table", "form", "svg", "math", "button"))
BLOCKS = frozenset(("p", "li", "h1", "h2", "h3", "h4", "h5", "dt", "dd", "blockquote"))
SKIPPED_CLASSES = ("sidebar", "toc", "related", "highlight", "NAVHEADER")
PILCROWS = str.maketrans("", "", "¶\uf0c1")
"""What documentation generators put behind a heading as its link."""


def blocks(page: str) -> list[tuple[str, str]]:
    """Return (tag, text) of each heading, paragraph and list item, in order; text outside of any has the tag ""."""
    reader = _Reader()
    reader.feed(page)
    reader.flush()
    return reader.blocks


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[tuple[str, str]] = []
        self._text: list[str] = []
        self._tag = ""
        self._skipping: list[str] = []

    def flush(self) -> None:
        text = " ".join("".join(self._text).translate(PILCROWS).split())
        if text:
            self.blocks.append((self._tag, text))
        self._text = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skipping:
            if tag == self._skipping[0]:
                self._skipping.append(tag)
        elif tag in SKIPPED or (tag == "div" and _is_navigation(attrs)):
            self._skipping = [tag]
            self.flush()
        elif tag in BLOCKS:
            self.flush()
            self._tag = tag

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            if tag == self._skipping[0]:
                self._skipping.pop()
        elif tag in BLOCKS:
            self.flush()
            self._tag = ""

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self._text.append(data)


def _is_navigation(attributes: list[tuple[str, str | None]]) -> bool:
    classes = " ".join(value or "" for key, value in attributes if key == "class")
    return any(name in classes for name in SKIPPED_CLASSES)
