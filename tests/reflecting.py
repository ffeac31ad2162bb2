"""What tests of reflect share: a small vault of logs with a hand-made page, and looks at what was written."""

import json
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from sample import call
from vaults import age, fill, memory, put, snapshot

from vault_memory.reflect import job
from vault_memory.reflect.fact import Citations, Fact
from vault_memory.reflect.fact_lines import PageContext
from vault_memory.reflect.job import ReflectReport
from vault_memory.reflect.page_drafts import ReflectRequest
from vault_memory.text import tokens
from vault_memory.text.terms import STOP_WORDS

NOW = "2025-12-10"

LOGS = {
    "memory/2025-11-03.md": (
        "# Monday\n\n## Retain\n"
        "- W @Nora: Keeps the lighthouse of Kallö since 2019.\n"
        "- B @Nora @Odd: Rowed out to the weir with both of them.\n"
        "- O(c=0.8) @Nora: Likes her coffee without milk.\n"
    ),
    "memory/2025-11-05.md": (
        "## Retain\n"
        "- W @Nora: Ordered a new lamp from Bergen for the lighthouse.\n"
        "- W @Odd: Sails the ferry to Gothenburg on Fridays.\n"
        "- S @Kallö: The harbour freezes in hard winters. ^frozen\n"
    ),
    "memory/2025-11-20.md": (
        "## Retain\n"
        "- W @Nora: The lamp from Bergen arrived broken.\n"
        "- W @Odd: Wrote a letter to the harbour office about the weir.\n"
        "- B @Kallö: Painted the boathouse with the neighbours.\n"
    ),
    "memory/2025-12-02.md": (
        "## Retain\n"
        "- W @Nora: Sent the broken lamp back.\n"
        "- W @Odd: Sold the ferry and keeps bees now.\n"
        "- W @Kallö: The bridge is closed until March.\n"
    ),
}
ODD = "bank/entities/Odd.md"
NORA = "bank/entities/Nora.md"
HAND_MADE = {
    ODD: b"\xef\xbb\xbf---\r\naliases: [Oddvar]\r\n---\r\n# Odd\r\n\r\nMy brother's friend.",
    "Reading list.md": "- The Sea, the Sea\n",
}


def small_vault(root: Path) -> Path:
    """A vault whose logs make several pages, one of them written by hand already."""
    return fill(root, {**LOGS, **HAND_MADE})


def reflect(root: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    """Run `memory reflect --json` and check how it ended."""
    asked = () if "--undo" in arguments else ("--now", NOW)
    ended = call("--vault", str(root), "reflect", *asked, *arguments, "--json")
    assert ended.code == code, ended
    done = dict(json.loads(ended.out or ended.err))
    if "--dry-run" not in arguments:
        _settle(root, [one["path"] for one in done.get("pages", ())])
    return done


def _settle(root: Path, paths: Iterable[str]) -> None:
    """Make pages look saved a while ago: nobody is at work on them, and the next run waits for no editor."""
    for path in paths:
        if (root / path).exists():
            age(root / path, 60)


def entities(done: dict[str, Any]) -> dict[str, str]:
    """What a run did to the pages of entities: the action by path."""
    return {one["path"]: one["action"] for one in done["pages"] if one["path"].startswith("bank/entities/")}


def texts(root: Path) -> dict[str, bytes]:
    """Every file outside `.memory` by its path."""
    return {path: data for path, (data, _, _) in snapshot(root).items()}


def block(data: bytes, name: str = "facts") -> list[str]:
    """The lines of a page's block."""
    found = re.search(rf"<!-- memory:begin {name} -->\r?\n(.*?)\r?\n?<!-- memory:end {name} ", data.decode(), re.DOTALL)
    assert found, data
    return found[1].splitlines()


def rewrite(root: Path, path: str, old: str, new: str) -> None:
    """Edit a note by hand, a while ago."""
    data = (root / path).read_bytes()
    assert old.encode() in data, (old, data)
    put(root, path, data.replace(old.encode(), new.encode(), 1))


def reflected(root: Path, day: str = NOW, **asked: Any) -> ReflectReport:
    """Reflect in this process, as of noon of a day."""
    request = ReflectRequest(now=datetime.fromisoformat(f"{day}T12:00:00+00:00"), **asked)
    done = job.reflect(memory(root).index_file, request)
    _settle(root, (edit.path for edit in done.edits if not done.dry_run))
    return done


def forget(root: Path, place: str) -> None:
    """Forget a fact, a while ago."""
    ended = call("--vault", str(root), "forget", place, "--yes")
    assert ended.code == 0, ended.err
    _settle(root, texts(root))


def without_index(root: Path) -> None:
    for file in (root / ".memory").glob("index.sqlite*"):
        file.unlink()


def journal_lines(root: Path, *events: str) -> list[dict[str, Any]]:
    """What the journals hold, in order; only these events where some are named."""
    files = sorted((root / ".memory/journal").glob("*.jsonl"))
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [line for line in lines if not events or line["event"] in events]


# --- facts and pages without a vault ---------------------------------------------------------------------------------


def stems(text: str) -> list[str]:
    return [word.rstrip("s") for word in re.findall(r"\w+", text.casefold()) if word not in STOP_WORDS]


def page_context(facts: Iterable[Fact], **more: object) -> PageContext:
    """What a page of these facts is laid out with, in a vault without notes to link."""
    plain: dict[str, object] = {
        "cite": Citations({fact.path for fact in facts}), "link_entity": str.title, "exists": lambda target: False,
        "stems": stems, "count": tokens.count,
    }  # fmt: skip
    return PageContext(**{**plain, **more})  # type: ignore[arg-type]
