"""Files that are no notes are found by their names, canvases by their cards; they count as notes nowhere."""

import json
from pathlib import Path

import pytest
from vaults import fill, memory, put

from vault_memory.errors import RefusedError
from vault_memory.markdown.note import MAX_CANVAS_BYTES, attachment_text

CARDS = {
    "nodes": [
        {
            "id": "1",
            "type": "text",
            "text": "# Kitchen\n- order the induction hob @Elkem\n\n## Retain\n- W @Peter: Cooks.",
        },
        {"id": "2", "type": "file", "file": "a.md"},
        {"id": "3", "type": "group", "label": "Budget"},
        "strange",
    ],
    "edges": [{"id": "e", "label": "waits for [[Ada]]"}, {"id": "f"}],
}
NOTES = {"a.md": "# A\n\nSoup and bread.\n", "b.md": "# B\n\nThe ladder stands in the shed.\n"}


def test_an_attachment_is_found_by_its_name_and_cited_without_a_line(tmp_path: Path) -> None:
    fill(tmp_path, {**NOTES, "Papers/Tax return 2023.pdf": "\0not text"})
    with memory(tmp_path) as mine:
        assert mine.index().added == 2
        answer = mine.recall("tax return 2023", k=1)
        (found,) = answer.results
        assert (found.kind, found.source, found.start_line, found.date) == (
            "file",
            "Papers/Tax return 2023.pdf",
            0,
            None,
        )
        assert (answer.missing, answer.understood.unknown, answer.notes) == ((), (), 2)
        with pytest.raises(RefusedError, match="only its name is known"):
            mine.get("Papers/Tax return 2023.pdf")
        (tmp_path / found.path).unlink()
        assert not [r for r in mine.recall("tax return 2023").results if r.kind == "file"]
        put(tmp_path, "Papers/Lease.pdf", "x")
        assert mine.recall("lease").results[0].source == "Papers/Lease.pdf"


def test_the_cards_of_a_canvas_are_found_and_are_no_evidence(tmp_path: Path) -> None:
    fill(tmp_path, {**NOTES, "plan.canvas": json.dumps(CARDS)})
    with memory(tmp_path) as mine:
        report = mine.index()
        assert (report.facts, report.problems) == (0, [])
        (found,) = mine.recall("which hob to order?", k=1).results
        assert (found.source, found.content) == ("plan.canvas", "- order the induction hob @Elkem")
        assert "Budget\n\nwaits for [[Ada]]" in mine.get("plan.canvas").text
        assert [row.name for row in mine.entities() if row.name in ("Ada", "Elkem", "Peter", "plan")] == []
        put(tmp_path, "plan.canvas", json.dumps({"nodes": [{"type": "text", "text": "A gas cooker instead."}]}))
        assert not [r for r in mine.recall("induction hob", all=True).results if "hob" in r.content]
        assert mine.recall("gas cooker", k=1).results[0].source == "plan.canvas"
        mine_digest, fresh_digest = mine.index_file.check()
        assert mine_digest == fresh_digest


def test_private_folders_keep_their_attachments(tmp_path: Path) -> None:
    fill(tmp_path, {**NOTES, "Private/Diagnosis.pdf": "x", "Private/plan.canvas": json.dumps(CARDS)})
    with memory(tmp_path, folder_scopes=(("private", "user:me"),)) as mine:
        assert mine.recall("diagnosis induction hob", k=1).results[0].kind == "file"
        shown = mine.recall("diagnosis induction hob", scopes=("global",)).results
        assert {found.kind for found in shown} <= {"note"}
        for path in ("Private/Diagnosis.pdf", "Private/plan.canvas"):
            assert mine.get(path, scopes=("global",)).not_found


def test_attachments_alone_are_an_absent_vault(tmp_path: Path) -> None:
    fill(tmp_path, {**NOTES, "picture.png": "x"})
    with memory(tmp_path) as mine:
        mine.index()
        for path in NOTES:
            (tmp_path / path).unlink()
        with pytest.raises(RefusedError, match="holds no notes, but 2 are known"):
            mine.index()


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[1]", b'{"nodes": 3}', b'{"nodes": [{"text": 3}]}', b"[" * 100_000, b"\xff\xfe",
             b'{"nodes": [{"text": "a"}]}' + b" " * MAX_CANVAS_BYTES],
)  # fmt: skip
def test_a_broken_canvas_is_a_name(data: bytes) -> None:
    assert attachment_text("a/My\nplan.canvas", data) == b"My plan.canvas"
