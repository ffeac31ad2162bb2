"""A name that two pages claim means neither, and no third page is made for it."""

from pathlib import Path

from reflecting import reflected, texts
from vaults import age, fill, memory

from vault_memory.health.doctor import lint
from vault_memory.reflect.job import ReflectReport
from vault_memory.rendering.reflect import reflect_document, reflect_text


def settle(root: Path) -> None:
    for path in texts(root):
        age(root / path, 60)


def vault(root: Path, pages: dict[str, str]) -> Path:
    made = fill(root, pages)
    settle(made)
    return made


def paths(done: ReflectReport) -> list[str]:
    return [edit.path for edit in done.edits]


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
