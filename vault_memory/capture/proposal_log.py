"""What the journals and the marks say of proposals: which were made, answered, taken back, or wait for another day."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from vault_memory.capture import proposals_page, sources
from vault_memory.capture.proposals_page import Proposal, name_of
from vault_memory.indexing.index_file import IndexFile
from vault_memory.store import journal
from vault_memory.vault.undo_history import UndoHistory

ANSWERS = ("accepted", "declined", "folded")
"""What the journal says of a proposal that was answered; "proposed" is no answer."""


def events(index: IndexFile) -> list[dict[str, Any]]:
    """What the journals say of proposals, without what undone runs did."""
    undone = _undone_runs(index)
    return [event for event in journal.capture_events(index.vault.root) if event.get("run") not in undone]


def _undone_runs(index: IndexFile) -> set[str]:
    return {run.name for run in UndoHistory(index.vault.root).runs() if run.is_undone}


def made(index: IndexFile, wanted: Sequence[str]) -> set[str]:
    """The names of the proposals of which the journal says this; those of earlier releases also by their words."""
    found = set[str]()
    for event in events(index):
        if event["event"] in wanted:
            found |= {str(event.get("name"))}
            found |= {name_of(proposals_page.statement(str(event["text"])))} if event.get("text") else set()
    return found


def restored_ticks(index: IndexFile) -> set[str]:
    """The names of proposals accepted by a run of an earlier release that was undone since: the pages that it put back
    hold the tick. What earlier releases noted has a text; times do not count, as clocks differ."""
    noted, undone = journal.capture_events(index.vault.root), _undone_runs(index)
    last = {str(event.get("name")): event for event in noted}
    newer = {str(event.get("name")) for event in noted if event["text"] is None}
    return {name for name, one in last.items() if one["event"] == "accepted" and one.get("run") in undone} - newer


def held(index: IndexFile, environ: Mapping[str, str]) -> list[Proposal]:
    """What waits for another day; earlier releases kept it in the journal."""
    found = []
    for row in sources.load_marks(index.vault.root, environ).held:
        with suppress(TypeError, KeyError):
            found.append(Proposal(**(row | {"instead": tuple(row["instead"])})))
    old = (event for event in events(index) if event["event"] == "held" and event.get("text"))
    for event in old:
        with suppress(KeyError, TypeError, ValueError):
            found.append(Proposal(str(event["name"]), str(event["text"]), float(event["score"]), str(event["said"])))
    return found
