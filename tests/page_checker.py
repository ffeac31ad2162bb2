"""A strict check of the pages that reflect wrote, by the rules of Obsidian and of the Guide: it shares no code
with what writes them, but for the token counter. `problems` gives every breach as a sentence; no breach is an empty
list."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

from vault_memory.store.journal import passage_key
from vault_memory.text import tokens
from vault_memory.text.terms import STOP_WORDS

LIMITS = {"entity": 1800, "bank": 2000, "opinions": 4000, "week": 400, "month": 600, "year": 800, "proposals": 4000}
TRACEABLE = 0.4
LONG = 1000
"""A longer fact is known by the hash of its first part (markdown/passages.py)."""

_BLOCK = re.compile(r"^<!-- memory:begin (\S+) -->\n(.*?\n)?<!-- memory:end \1 ([^\n]*)-->$", re.M | re.S)
_WIKI = re.compile(r"\[\[([^\[\]|#]*)(?:#(\^?)([^\[\]|]*))?(?:\|([^\[\]]*))?\]\]")
_MARKDOWN = re.compile(r"(?<!\])\[(?:[^\[\]\\]|\\.)*\]\((?!https?://)([^()\s]*)\)")
_LINK = rf"(?:{_WIKI.pattern}|{_MARKDOWN.pattern})"
_CITED = re.compile(r"(?P<link>\[\[[^\[\]]*\]\]|\[(?:[^\[\]\\]|\\.)*\]\([^()\s]*\))(?P<lines> L\d+(?:, L\d+)*)?")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)"
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"

FORMS = {
    "blank": r"",
    "heading": r"#{2,3} \S.*",
    "month": rf"\*\*(?:{_MONTH} \d{{4}}|Of no day)\*\*",
    "size": rf"{_NUMBER} facts?(?:, (?:one|{_NUMBER}) of them)?(?: of .+| on {_NUMBER} days, .+ to .+)?"
    r"(?:; together with .+)?\.",
    "mostly": rf"(?:(?:Mostly|Among others:) .+; )?{_NUMBER} facts? on {_NUMBER} days?\.",
    "folded": rf"…and {_NUMBER} more fact(?:s)?(?:[,:] .+)?\.",
    "more": rf"…and {_NUMBER} more: see `memory opinions`\.",
    "finer": r"(?:Weeks|Months): (?:\[\[[^\[\]]+\]\] ?)+",
    "course": r"  - [▁▂▃▄▅▆▇█]+ (?:new|rising|falling|steady)(?: from \.\d\d)?"
    rf"(?:, last on \d{{1,2}} {_MONTH} \d{{4}})?",
    "count": rf"  - (?:for|against): {_NUMBER} more",
    "nothing": r"Nothing open\.",
    "intro": r"Tick what should be done \(`\[x\]`\), mark what should not \(`\[-\]`\); it happens at the next"
    r" `memory reflect`\.",
}
"""All that a line without a citation may be."""

_BULLET = re.compile(r"(?:- (?:\*\*[01]?\.\d\d\*\* )?|  - (?:for|against|related|also|taken back): |\*\*)")
_PROPOSAL = re.compile(r'- \[ \] (?:add|change|remove): "(?P<text>.*)" because .+ \((?P<cited>.+)\) \^p-[0-9a-f]{8}')


class Written(NamedTuple):
    """One block of a page: where it stands, its lines and what its closing marker names."""

    path: str
    name: str
    lines: list[str]
    cites: list[str]


def problems(root: Path) -> list[str]:
    """Every breach on every page of a vault that holds a block."""
    vault = _Vault(root)
    found: list[str] = []
    for path, text in vault.notes.items():
        if path.startswith("bank/") and "<!-- memory:begin" in text:
            found += (f"{path}: {breach}" for breach in _page(path, text, vault))
    return found


def written(root: Path) -> list[Written]:
    """All blocks of a vault."""
    notes = _Vault(root).notes
    return [block for path in notes if path.startswith("bank/") for block in _blocks(path, notes[path])]


class _Vault:
    """The notes of a vault as Obsidian sees them: every Markdown file outside dot-folders."""

    def __init__(self, root: Path) -> None:
        files = sorted(file for file in root.rglob("*.md") if not _is_hidden(file.relative_to(root)))
        self.notes = {
            file.relative_to(root).as_posix(): re.sub(r"\r\n?", "\n", file.read_bytes().decode("utf-8-sig", "replace"))
            for file in files
        }

    def find(self, target: str) -> str | None:
        """The note that a wikilink opens: the one with that path, else the only one whose path ends so."""
        wanted = target.strip().removesuffix(".md").casefold()
        names = {path: path.removesuffix(".md").casefold() for path in self.notes}
        whole = [path for path, name in names.items() if name == wanted]
        ends = [path for path, name in names.items() if name.endswith(f"/{wanted}")]
        return whole[0] if whole else ends[0] if len(ends) == 1 else None

    def line(self, path: str, number: int) -> str | None:
        """A line with those that go on with it: what is indented below a bullet."""
        lines = self.notes[path].split("\n")
        if not 0 < number <= len(lines):
            return None
        end = number
        while end < len(lines) and re.match(r"[ \t]+(?![-*+] [WBOS]\b)\S", lines[end]):
            end += 1
        return "\n".join(lines[number - 1 : end])

    def of_block_id(self, path: str, name: str) -> str | None:
        lines = self.notes[path].split("\n")
        found = [place for place, line in enumerate(lines, 1) if re.search(rf"\s\^{re.escape(name)}$", line)]
        bullets = (
            [place for place in range(1, found[0] + 1) if re.match(r"\s*[-*+] ", lines[place - 1])] if found else []
        )
        return self.line(path, bullets[-1] if bullets else found[0]) if found else None


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _blocks(path: str, text: str) -> Iterator[Written]:
    for name, inner, said in _BLOCK.findall(text):
        cites = re.search(r"\bcites=(\S*)", said)
        yield Written(path, name, inner.removesuffix("\n").split("\n"), cites[1].split(",") if cites else [])


def _page(path: str, text: str, vault: _Vault) -> Iterator[str]:
    blocks = list(_blocks(path, text))
    if len(blocks) != text.count("<!-- memory:begin") or len(blocks) != text.count("<!-- memory:end"):
        yield "markers without a partner"
    if text.endswith("-->\n\n") or not text.endswith("\n"):
        yield "does not end with one newline"
    for block in blocks:
        if block.name == "captured":  # what waits for an answer, not what reflect tells
            continue
        yield from _limits(block)
        yield from _headings(block.lines)
        cited: list[str] = []
        for number, line in enumerate(block.lines, 1):
            for breach in _line(line, vault, cited):
                yield f"line {number}: {breach}: {line}"
        yield from _markers(block, cited)


def _limits(block: Written) -> Iterator[str]:
    size = tokens.count("\n".join(block.lines))
    if size > LIMITS[_kind(block)]:
        yield f"{size} tokens, of {LIMITS[_kind(block)]} at most"


def _kind(block: Written) -> str:
    name = PurePosixPath(block.path).stem
    if block.name in ("opinions", "proposals"):
        return block.name
    if block.name == "summary":
        return "week" if "W" in name else "month" if "-" in name else "year"
    return "entity" if "/entities/" in f"/{block.path}" else "bank"


def _headings(lines: list[str]) -> Iterator[str]:
    """A heading is no deeper than one below the last, and something stands below it."""
    level = 1
    for place, line in enumerate(lines):
        deep = len(line) - len(line.lstrip("#")) if re.match(r"#+ ", line) else 0
        if not deep:
            continue
        if deep > level + 1 and not (level == 1 and deep == 3):  # a summary's own title is its page's
            yield f"a heading of level {deep} below level {level}"
        level = deep
        rest = [one for one in lines[place + 1 :] if one.strip()]
        if not rest or (re.match(r"#+ ", rest[0]) and len(rest[0]) - len(rest[0].lstrip("#")) <= deep):
            yield f"nothing below {line}"


def _line(line: str, vault: _Vault, cited: list[str]) -> Iterator[str]:
    if line != line.rstrip():
        yield "a space at its end"
    if "<!--" in line or "-->" in line or "%%" in line:
        yield "a comment mark"
    yield from _links(line, vault)
    proposal = _PROPOSAL.fullmatch(line)
    if proposal:
        yield from _cited(proposal["text"], proposal["cited"], vault, cited, traced=False)
        return
    if any(re.fullmatch(form, line) for form in FORMS.values()):
        return
    if not _BULLET.match(line) or " — " not in line:
        yield "of no known form"
        return
    dash = _last_dash(line)
    yield from _cited(_BULLET.sub("", line[:dash], count=1), line[dash + 3 :], vault, cited)


def _last_dash(line: str) -> int:
    """Where the citation begins: behind the last dash that stands in no link."""
    inside = [match.span() for match in _CITED.finditer(line)]
    dashes = [match.start() for match in re.finditer(" — ", line)]
    return max((at for at in dashes if not any(start < at < end for start, end in inside)), default=dashes[-1])


def _links(line: str, vault: _Vault) -> Iterator[str]:
    plain = re.sub(r"`[^`]*`", "", line)
    for target, is_block, anchor, _ in _WIKI.findall(plain):
        path = vault.find(target)
        if path is None:
            yield f"[[{target}]] opens no note, or one of several"
        elif is_block and vault.of_block_id(path, anchor) is None:
            yield f"no line ^{anchor} in {path}"
    for target in _MARKDOWN.findall(plain):
        path, _, anchor = unquote(target).partition("#^") if "#^" in target else (unquote(target), "", "")
        if path not in vault.notes:
            yield f"({target}) opens no note"
        elif anchor and vault.of_block_id(path, anchor) is None:
            yield f"no line ^{anchor} in {path}"
    if "[[" in _WIKI.sub("", plain) or "]]" in _WIKI.sub("", plain):
        yield "a link that is left open"


def _cited(text: str, citation: str, vault: _Vault, cited: list[str], traced: bool = True) -> Iterator[str]:
    found = list(_CITED.finditer(citation))
    if not found or re.sub(r"[\s,]", "", _CITED.sub("", citation)):
        yield f"“{citation}” is no citation"
        return
    for one in found:
        for source in _sources(one, vault):
            if source is None:
                yield f"{one[0]} cites no line"
                continue
            if traced:
                cited.append(source)
            if traced and (share := _share(text, source)) < TRACEABLE:
                yield f"{share:.0%} of its words are in “{source}”"


def _sources(one: "re.Match[str]", vault: _Vault) -> Iterator[str | None]:
    """The lines that one citation names."""
    wiki = _WIKI.fullmatch(one["link"])
    target = unquote(_MARKDOWN.fullmatch(one["link"])[1]) if not wiki else ""  # type: ignore[index]
    path = vault.find(wiki[1]) if wiki else target.partition("#^")[0]
    anchor = wiki[3] if wiki else target.partition("#^")[2]
    if path not in vault.notes:
        yield None
    elif anchor:
        yield vault.of_block_id(path, anchor)
    else:
        numbers = re.findall(r"\d+", one["lines"] or "")
        yield from (vault.line(path, int(number)) for number in numbers)
        if not numbers:
            yield None


def _share(text: str, source: str) -> float:
    """The share of the content words of a page's line that a cited line holds."""
    said = set(_words(re.sub(_LINK, " ", text))) - STOP_WORDS
    return len(said & set(_words(source))) / len(said) if said else 1.0


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if len(word) > 1]


def _markers(block: Written, cited: list[str]) -> Iterator[str]:
    """As many hashes as cited lines; that of a Retain bullet is the hash of its words."""
    if block.name == "proposals":
        return
    if len(block.cites) != len(cited):
        yield f"{len(block.cites)} hashes for {len(cited)} cited lines"
        return
    for name, source in zip(block.cites, cited, strict=True):
        if (
            re.match(r"\s*[-*+] [WBOS](?:\([^)]*\))?(?: .*)?: ", source[:LONG])
            and _name(source) != name
            and len(source) < LONG
        ):
            yield f"{name} is not the hash of “{source}” ({_name(source)})"


def _name(line: str) -> str:
    key = passage_key(line.strip())
    return f"{key & (1 << 64) - 1:016x}"[:8]
