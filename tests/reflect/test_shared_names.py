"""A name that two pages claim means neither, and a copy of a page is no page: no third one is made, none is emptied."""

from pathlib import Path

import pytest
from reflecting import reflected, texts
from vaults import age, fill, memory, put

from vault_memory.health.doctor import lint
from vault_memory.reflect.job import ReflectReport
from vault_memory.rendering.reflect import reflect_document, reflect_text

PETER = "bank/entities/Peter Smith.md"
PAGE = "---\naliases: [Peter]\n---\n# Peter Smith\n\nA friend.\n"
LOGS = {
    "memory/2025-11-03.md": "## Retain\n- W @Peter: Keeps bees behind the chapel.\n- B @Nora: Met [[Peter Smith]].\n",
    "memory/2025-11-05.md": "## Retain\n- W @Peter: Sold the boat to a cousin.\n- W @Nora: Knows @Peter well.\n",
}


def settle(root: Path) -> None:
    for path in texts(root):
        age(root / path, 60)


def vault(root: Path, pages: dict[str, str]) -> Path:
    made = fill(root, LOGS | pages)
    settle(made)
    return made


def paths(done: ReflectReport) -> list[str]:
    return [edit.path for edit in done.edits]


@pytest.mark.parametrize("name", ["Peter Smith 1", "Peter Smith (conflict)"])
def test_a_copy_of_a_page_changes_no_page(tmp_path: Path, name: str) -> None:
    root = vault(tmp_path / "v", {PETER: PAGE})
    reflected(root)
    assert "Keeps bees" in (root / PETER).read_text("utf-8")
    copy = f"bank/entities/{name}.md"
    put(root, copy, (root / PETER).read_text("utf-8"))
    settle(root)
    before = texts(root)
    done = reflected(root)
    assert (paths(done), texts(root)) == ([], before)
    assert [(one.path, PETER in one.why) for one in done.notices] == [(copy, True)]
    (root / copy).unlink()
    done = reflected(root)
    assert (paths(done), done.notices) == ([], ())


SAM = {f"bank/entities/Sam {name}.md": f"---\naliases: [Sam]\n---\n# Sam {name}\n" for name in ("Brown", "Green")}
SAYS = {f"memory/2025-11-{day:02}.md": f"## Retain\n- W @Sam: Rowed on day {day} with the crew.\n" for day in (3, 4, 5)}


def test_an_alias_of_two_is_nobodys_and_that_is_told(tmp_path: Path) -> None:
    root = vault(tmp_path / "v", SAM | SAYS)
    done = reflected(root)
    assert not (root / "bank/entities/Sam.md").exists()
    assert not [path for path in SAM if b"Rowed" in (root / path).read_bytes()]
    brown, green = SAM
    assert all(path in done.notices[0].why for path in SAM) and "`sam`" in done.notices[0].why
    assert done.notices[0].why.split()[0] in reflect_text(done)
    assert reflect_document(done)["notices"][0]["path"] == brown
    assert done.exit_code == 0
    problems = [problem for problem in lint(memory(root)) if "alias" in problem.message]
    assert [(problem.path, problem.level) for problem in problems] == [(brown, "warning"), (green, "warning")]
    assert green in problems[0].message and brown in problems[1].message
    settle(root)
    assert paths(reflected(root)) == []
