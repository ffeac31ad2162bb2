"""Appends a fact to a day's note as one Retain bullet, and finds existing facts that say the same.

The edit keeps the note's byte order mark, line endings and final newline, is parsed again before anything is written,
and is written under the guest rules (rewrite.py).
"""

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import TypeVar

from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.errors import ConflictError, RefusedError, UsageError, VaultError
from vault_memory.markdown import entities, facts, provenance
from vault_memory.markdown.note import Note
from vault_memory.markdown.parse import parse
from vault_memory.markdown.scopes import note_scope
from vault_memory.search.names import Names
from vault_memory.search.superseded_facts import superseded
from vault_memory.store import journal, note_queries
from vault_memory.store.note_queries import KnownFact
from vault_memory.store.rows import wording_hash
from vault_memory.store.view import KINDS, Filters, View
from vault_memory.text import daily_notes, date_finder
from vault_memory.text.scope_syntax import GLOBAL, SCOPES, is_scope, normal_scope
from vault_memory.vault.vault import Vault
from vault_memory.write.comparison import (
    CREATE,
    MERGE,
    SAME,
    SKIP,
    SUPERSEDE,
    Comparer,
    Comparison,
    known_statement,
    newest_facts,
)
from vault_memory.write.rewrite import Rewriter, append_item, decode_utf8, lines_of, read_current, split_end

T = TypeVar("T")

DAYS_AROUND = 60
"""The daily notes of so many days before and after a day show the language in which Obsidian names them."""

MAX_COMPARED = 1000
"""How many of the newest facts of each kind a fact is compared with."""


@dataclass(frozen=True)
class RetainResult:
    """Where a bullet was put: note, line (0 in a dry run), the bullet, and whether the note was created for it."""

    path: str
    line: int
    bullet: str
    created: bool
    warning: str = ""
    """Why the fact cannot be recalled (yet), and where the same was already said; or ""."""
    resembles: str = ""
    """If an agent stored it, which line it resembles and how: "memory/2025-11-27.md#L3 says otherwise"; or ""."""

    @property
    def source(self) -> str:
        """The citation of the bullet."""
        return f"{self.path}#L{self.line}"


@dataclass(frozen=True)
class Bullet:
    """A fact to be written; `confidence` and `importance` are in 0..1 or None.

    `by` is its origin unless that is a person; `scope` is who may see it, "" for those who may read its note;
    `supersedes` links to the fact it replaces; `occurred` is the value of `t=`, an ISO date or from/to.
    """

    text: str
    kind: str = "W"
    entities: tuple[str, ...] = ()
    confidence: float | None = None
    by: str = ""
    scope: str = ""
    supersedes: str = ""
    importance: float | None = None
    occurred: str = ""

    def __str__(self) -> str:
        # Six decimals and no exponent, as the grammar requires.
        figures = {"c": self.confidence, "i": self.importance}
        given = [f"{key}={f'{it:.6f}'.rstrip('0').rstrip('.')}" for key, it in figures.items() if it is not None]
        words = {"t": self.occurred, "by": self.by, "scope": self.scope, "supersedes": self.supersedes}
        given += [f"{key}={it}" for key, it in words.items() if it]
        keys = f"({', '.join(given)})" if given else ""
        is_word = re.compile(entities.WORD).fullmatch
        names = "".join(f" @{name}" if is_word(name) else f" @[[{name}]]" for name in self.entities)
        return f"- {self.kind}{keys}{names}: {' '.join(self.text.split())}"

    def note(self) -> Note:
        """A note with only this bullet, to see how it is parsed."""
        return parse("x.md", f"## Retain\n{self}\n".encode("utf-8", "replace"))


def check_entities(names: Sequence[str]) -> None:
    """Raise UsageError for a name that would not be parsed as an entity."""
    for name in names:
        if [entities.slug(read) for read in entities.mentions(f"@[[{name}]]")] != [entities.slug(name)]:
            raise UsageError(f"`{name}` cannot be an entity's name.", "Leave out [ ] | # / and .md; a date is no name.")


def check(bullet: Bullet) -> None:
    """Raise UsageError unless the bullet would be parsed as the fact it states."""
    check_entities(bullet.entities)
    if (line := facts.HEAD.match(re.sub(r"^\s*[-*+] ", "", bullet.text))) and line[3]:
        named = " ".join(f"--entity {shlex.quote(name)}" for name in entities.mentions(line[3]))
        raise UsageError(
            f"`{line[0].partition(':')[0]}:` is the head of a whole line: give only the words after it.",
            f"For example: memory retain {shlex.quote(line[5])} --kind {line[1]} {named}",
        )
    if bullet.by and provenance.normal(bullet.by) == provenance.UNCLEAR:
        raise UsageError(f"`{bullet.by}` does not say who it is from.", f"Write {provenance.KNOWN}.")
    if bullet.scope and not is_scope(bullet.scope):
        raise UsageError(f"`{bullet.scope}` is not a scope.", f"Write {SCOPES}.")
    note = bullet.note()
    # An open comment shows up as a problem of the note: it would hide everything below it.
    found = [] if note.problems else list(facts.facts(note, None))
    if len(found) != 1 or not _reads_back_as(found[0], bullet):
        raise UsageError(
            "This text would not be read back as one fact.",
            "Leave out comments (%% or <!--) and code fences, and say something.",
        )


def _reads_back_as(fact: facts.RetainFact, bullet: Bullet) -> bool:
    text = " ".join(bullet.text.split())
    names = {entities.slug(name) for name in fact.entities}
    return (
        fact.kind == bullet.kind
        and text in (fact.narrative, f"{fact.narrative} ^{fact.block_id}")
        and names >= {entities.slug(name) for name in bullet.entities}
        and (bullet.confidence is None or abs((fact.confidence or 0) - bullet.confidence) < 1e-6)
        and (fact.by or "") == bullet.by.casefold()
        and (fact.scope or "") == (normal_scope(bullet.scope) if bullet.scope else "")
    )


def retain_bullet(rewriter: Rewriter, bullet: Bullet, day: date, template: Path) -> RetainResult:
    """Append a bullet to the Retain section of that day's note, creating the note from its template if needed.

    Raises ConflictError after three attempts against an editor that keeps saving.
    """
    check(bullet)
    vault = rewriter.vault
    path = daily_path(vault, day)

    def compose(before: bytes | None) -> tuple[bytes, RetainResult]:
        start = before if before is not None else new_daily_note(vault, template, day, path)
        of_its_note = note_scope(parse(path, start).properties, path, vault.config.folder_scopes)
        text = str(replace(bullet, scope="") if bullet.scope == of_its_note == GLOBAL else bullet)
        data, line = insert(path, start, text)
        return data, RetainResult(path, line, text, created=before is None)

    return rewriter.rewrite(path, compose)


def link_fact(rewriter: Rewriter, path: str, narrative: str) -> str:
    """A link to the fact with this narrative in a note, by its block id; one is added if it has none."""

    def mark(fact: facts.RetainFact, lines: list[str]) -> str:
        if fact.block_id:
            return fact.block_id
        name = f"m-{wording_hash(narrative) & 0xFFFFFFFF:08x}"
        said, end = split_end(lines[fact.end_line - 1])
        lines[fact.end_line - 1] = f"{said.rstrip()} ^{name}{end}"
        return name

    return f"[[{entities.link_name(path)}#^{_rewrite_fact(rewriter, path, narrative, mark)}]]"


def open_to_all(rewriter: Rewriter, path: str, narrative: str) -> None:
    """Remove the scope of the fact with this narrative in a note."""

    def without_scope(fact: facts.RetainFact, lines: list[str]) -> None:
        keys, _, rest = lines[fact.start_line - 1].partition(")")
        head, _, given = keys.partition("(")
        left = [key for key in map(str.strip, given.split(",")) if not key.casefold().startswith("scope")]
        lines[fact.start_line - 1] = f"{head}({', '.join(left)}){rest}" if left else head + rest

    _rewrite_fact(rewriter, path, narrative, without_scope)


def _rewrite_fact(
    rewriter: Rewriter, path: str, narrative: str, change: Callable[[facts.RetainFact, list[str]], T]
) -> T:
    """Let `change` edit the lines of the fact with this narrative in a note; raises ConflictError if it is gone, or
    the note keeps changing."""

    def compose(before: bytes | None) -> tuple[bytes, T]:
        note = rewriter.vault.parse(path, before or b"")
        fact = next((one for one in facts.facts(note, None) if one.narrative == narrative), None)
        if before is None or fact is None:
            raise ConflictError(f"{path} no longer holds the fact.", "Nothing was written.")
        lines = lines_of(decode_utf8(path, before))
        result = change(fact, lines)
        return "".join(lines).encode("utf-8"), result

    return rewriter.rewrite(path, compose)


def daily_path(vault: Vault, day: date) -> str:
    """The path of that day's note; raises RefusedError if the daily settings could not be read."""
    if vault.daily.problem:
        raise RefusedError(f"{vault.daily.problem}.", "Nothing was written. Open Obsidian's settings once, or fix it.")
    return daily_notes.note_path(day, vault.daily.folder, vault.daily.format, daily_language(vault, day))


def daily_language(vault: Vault, day: date) -> str:
    """The language in which Obsidian has named most daily notes around a day; English if none tells."""
    if not daily_notes.has_names(vault.daily.format):
        return "en"
    first, last = (min(max(day.toordinal() + away, 1), date.max.toordinal()) for away in (-DAYS_AROUND, DAYS_AROUND))
    days = [date.fromordinal(each) for each in range(first, last + 1)]

    def count(language: str) -> int:
        paths = (daily_notes.note_path(each, vault.daily.folder, vault.daily.format, language) for each in days)
        return sum(vault.locate(path) is not None for path in paths)

    return max(daily_notes.DATE_NAMES, key=count)


def insert(path: str, data: bytes, bullet: str) -> tuple[bytes, int]:
    """Append a bullet to the note's Retain section, or to a new one; returns the bytes and the bullet's line.

    Raises ConflictError if the note is not UTF-8, or the bullet would end up in a code fence, comment or owned block.
    """
    new, line = append_item(path, data, "Retain", bullet)
    if not any(fact.start_line == line for fact in facts.facts(parse(path, new), None)):
        raise ConflictError(
            f"{path}: a fact at its end would lie in a code fence, a comment or an owned block; nothing was written.",
            "Close what is open there (see `memory lint`), then try again.",
        )
    return new, line


def new_daily_note(vault: Vault, template: Path, day: date, path: str) -> bytes:
    """A new daily note from the vault's own daily template, else the shipped one, with placeholders filled in."""
    text = ""
    # The vault's settings name the template: `locate` refuses one outside, whose text would end up in a note.
    if vault.daily.template and (own := vault.locate(vault.daily.template)):
        raw = read_current(vault, own)
        text = raw.decode("utf-8-sig", "replace") if raw is not None else ""
    text = text or template.read_text("utf-8")
    title, language = path.rpartition("/")[2].removesuffix(".md"), daily_language(vault, day)

    def fill(match: re.Match[str]) -> str:
        if match[1] == "title":
            return title
        default = vault.daily.format.rpartition("/")[2] if match[1] == "date" else "HH:mm"
        return daily_notes.format_day(datetime.combine(day, datetime.now().time()), match[2] or default, language)

    return re.sub(r"\{\{(title|date|time)(?::([^}]*))?\}\}", fill, text).encode("utf-8")


def parse_bullet(
    text: str, kind: str, entities: Iterable[str], confidence: float | None = None, scope: str = ""
) -> Bullet:
    """The fact to be written; raises UsageError unless it would be parsed as the one it states.

    `scope` is who may see it: "" for everybody who may read its note.
    """
    letter = next((k for k, word in facts.KINDS.items() if kind.casefold() in (k.casefold(), word)), "")
    if not letter:
        raise UsageError(
            f"`{kind}` is not a kind of fact.", "Choose W (world), B (experience), O (opinion) or S (observation)."
        )
    made = Bullet(text, letter, tuple(name.lstrip("@") for name in entities), confidence, scope=scope)
    check(made)
    return made


def parse_day(given: str | date | None) -> date:
    """The single day that an option names; today for None. Raises UsageError for anything else."""
    today, text = date.today(), str(given or "")
    found = date_finder.parse_option(text, today) if text else None
    if text and (found is None or found.start != found.end):
        raise UsageError(f"`{text}` is not one day.", "For example --date 2025-11-27 or --date yesterday.")
    return found.start if found else today


# --- similar facts ---------------------------------------------------------------------------------------------------

_RESEMBLANCE = {SAME: "the same", SUPERSEDE: "otherwise", MERGE: "nearly the same", SKIP: "nearly the same"}


def compare(view: View, bullet: Bullet, today: date) -> Comparison:
    """Compare a fact with the known facts that are about all its entities and still valid.

    Forgotten and superseded facts are not valid, and facts from outside only if the new one is from outside too. An
    experience matches only the same words on the same day: on another day it happened again.
    """
    (wanted,) = facts.facts(bullet.note(), None)
    found = [
        known
        for known in note_queries.same_words(view, wording_hash(wanted.narrative))
        if wanted.kind != "B" or (known.day == today.isoformat() and KINDS[known.kind] == "experience")
    ]
    if same := _still_true(view, wanted, found, today):
        return Comparison(SAME, known_statement(same[0]))
    if wanted.kind == "B":
        return Comparison(CREATE)
    names = [slug for name in wanted.entities for slug in Names(view).slugs(name)]
    known = {one.source: one for one in newest_facts(view, names, MAX_COMPARED) if KINDS[one.kind] != "experience"}
    about = frozenset(map(entities.slug, wanted.entities))  # spelled as in the new fact: the known may use aliases
    true = (known_statement(one)._replace(slugs=about) for one in _still_true(view, wanted, known.values(), today))
    return Comparer(true, builtin()).compare(wanted.narrative, wanted.kind, wanted.entities)


def resemblance(compared: Comparison) -> str:
    """A clause on which fact says the same, nearly the same or otherwise, without a full stop; or ""."""
    return f"{compared.known.source} says {_RESEMBLANCE[compared.decision]}" if compared.known else ""


def _still_true(view: View, wanted: facts.RetainFact, known: Iterable[KnownFact], today: date) -> list[KnownFact]:
    """The facts, in order, that are still valid and about all entities of the wanted one."""
    is_trusted, forgotten = provenance.is_trusted(wanted.by or provenance.PERSON), journal.forgotten(view)
    known = [one for one in known if (provenance.is_trusted(one.by) or not is_trusted) and one.key not in forgotten]
    if not known:
        return []
    names = Names(view)
    about = set(map(names.canonical, wanted.entities))
    after = superseded(view, names, [each.id for each in known], today, Filters())
    return [e for e in known if e.id not in after and about <= set(map(names.canonical, e.slugs))]


def says_as(fact: facts.RetainFact, bullet: Bullet) -> bool:
    """Whether a fact of a log has a bullet's exact words and at least its names."""
    is_worded_so = (
        provenance.without_citation(fact.narrative).split() == provenance.without_citation(bullet.text).split()
    )
    return is_worded_so and {*map(entities.slug, bullet.entities)} <= {*map(entities.slug, fact.entities)}


def read_bullet(text: str) -> Bullet:
    """A line as a fact, as something of the world if its head is missing.

    Raises VaultError if it is not one fact.
    """
    text = text if facts.HEAD.match(text) else f"W: {text}"
    found = list(facts.facts(parse("x.md", f"## Retain\n- {text}\n".encode("utf-8", "replace")), None))
    head = facts.HEAD.match(text)
    if len(found) != 1 or head is None or not f" {head[5]}".partition(" — ")[0].strip():
        raise VaultError(f"`{text}` is not one fact: it was not written.", "Write it as `O @Name: what is so`.")
    keys = facts.read_keys(head[2] or "")
    return Bullet(
        head[5], head[1], tuple(entities.mentions(head[3])), found[0].confidence if "c" in keys else None,
        found[0].by or "", found[0].scope or "", keys.get("supersedes", ""), found[0].importance, keys.get("t", ""),
    )  # fmt: skip
