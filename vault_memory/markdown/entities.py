"""Entity names: slugs, mentions in text, and which name resolves to which page. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

# Names that Windows refuses as file names, whatever their suffix; a page for one gets a trailing underscore.
_RESERVED = {"con", "prn", "aux", "nul", *(f"com{i}" for i in range(1, 10)), *(f"lpt{i}" for i in range(1, 10))}

# Combining marks that belong to a word but do not match Python's \w: accents, Hebrew and Arabic points, Indic and
# Thai vowel signs.
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a4d"
    "\u0a81-\u0acd\u0b01-\u0b4d\u0b82-\u0bcd\u0c00-\u0c4d\u0c81-\u0ccd\u0d00-\u0d4d\u0e31-\u0e3a\u0e47-\u0e4e"
)
WORD = rf"(?:[^\W_][\w{_MARKS}-]*|_[\w{_MARKS}-]+)"
"""What follows a bare `@`: one word of letters, digits, `_` and `-`."""

MENTION = re.compile(
    rf"(?<![\w@/.])@(?:\[\[(?P<link>[^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]|(?P<word>{WORD}))"
    r"|\[\[(?P<plain>[^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]"
)
"""`@Name`, `@[[Name]]`, `@[[Name|shown]]` or `[[Name]]`."""

_ENDING = re.compile(r"\.(?!md$)[a-z][a-z0-9]{1,4}$", re.IGNORECASE)

_UNFIT = re.compile(r"[/\\:*?\"<>|\x00-\x1f]")
_SPACES = re.compile(r"\s+")
# A link to a daily note is a citation, not an entity.
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)|\d{4}-W\d{2}$|\d{4}-\d{2}$")

MAX_NAME_WORDS = 3
"""Names of people, places and firms seldom have more words; headlines do."""

MAX_NAME_CHARS = 180
"""In bytes: file systems allow 255, which must also fit `.md`, the words of a conflict copy and a temporary suffix."""

_NO_FILE_NAME = re.compile(r'[/\\:*?"<>|#^\[\]\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]')


@lru_cache(maxsize=1 << 16)
def slug(name: str) -> str:
    """The form in which names are compared: NFC, case folded, spaces as `-`, no path separators; maybe ""."""
    text = unicodedata.normalize("NFC", name).casefold()
    text = _SPACES.sub("-", _UNFIT.sub(" ", text).strip())
    return text.strip(".-")


def file_name(name: str) -> str:
    """A name as a portable file name: at most MAX_NAME_CHARS bytes, no text direction marks, nothing reserved."""
    clean = _NO_FILE_NAME.sub(" ", name)
    clean = " ".join(clean.split()).encode("utf-8", "replace")[:MAX_NAME_CHARS].decode("utf-8", "ignore").strip(". ")
    clean = clean or "unnamed"
    return f"{clean}_" if slug(clean).split(".")[0] in _RESERVED else clean


@lru_cache(maxsize=1 << 16)
def link_name(target: str) -> str:
    """The name a link target stands for: its last path component without `.md`."""
    return target.strip().rstrip("/").rsplit("/", 1)[-1].removesuffix(".md").strip()


def embeds_file(text: str, start: int, target: str) -> bool:
    """Whether the link at `start` embeds a file that is not a note, such as a picture: `![[Map.png]]`."""
    return text[start - 1 : start] == "!" and _ENDING.search(target.strip()) is not None


def is_day(name: str) -> bool:
    """Whether a name is that of a daily, weekly or monthly note, and so not an entity."""
    return _DAY.match(name) is not None


def mentions(text: str) -> Iterator[str]:
    """Yield the entities mentioned in `text` in order, each once; daily notes do not count."""
    seen: set[str] = set()
    if "@" not in text and "[[" not in text:
        return
    for match in MENTION.finditer(text):
        name = match["word"] or link_name(match["link"] or match["plain"])
        if embeds_file(text, match.start(), match["plain"] or ""):
            continue
        if name and slug(name) and slug(name) not in seen and not _DAY.match(name):
            seen.add(slug(name))
            yield name


def resolve(name: str, pages: Mapping[str, str], aliases: Mapping[str, Iterable[str]]) -> str | None:
    """Resolve a name to a page: by its slug in `pages`, else by an alias that only one page claims."""
    wanted = slug(name)
    if wanted in pages:
        return pages[wanted]
    claimed = set(aliases.get(wanted, ()))
    return claimed.pop() if len(claimed) == 1 else None
