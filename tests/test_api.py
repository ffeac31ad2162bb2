"""The public Python API, as the Guide's page "From Python" tells of it."""

import inspect
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from vaults import fill

import vault_memory
from vault_memory import Answer, Memory, UsageError, VaultError, errors

GUIDE = Path(__file__).parent.parent / "sample-vault" / "Guide" / "From Python.md"
NOTES = {
    "memory.md": "# Core\n- Lives in Bergen.\n",
    "memory/2025-11-27.md": "## Retain\n- O(c=0.9) @Peter: Prefers short messages.\n- W @Peter: Has a blue bicycle.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    fill(tmp_path / "vault", NOTES)
    return tmp_path / "vault"


def test_every_public_name_is_there_and_documented() -> None:
    for name in vault_memory.__all__:
        value = getattr(vault_memory, name)
        assert name == "__version__" or inspect.getdoc(value), name


def test_the_errors_are_those_of_the_error_tree() -> None:
    public = {name for name in vault_memory.__all__ if name.endswith("Error")}
    internal = {"NotRunningError", "LostError", "UnknownMethodError"}  # what a client of the daemon meets
    named = {
        name for name, value in vars(errors).items() if inspect.isclass(value) and value.__module__ == errors.__name__
    }
    assert public == named - internal


def test_the_guide_names_every_public_name_and_method_and_none_that_is_not() -> None:
    page = GUIDE.read_text("utf-8")
    told = set(re.findall(r"`(?:memory\.)([a-z_]+)\(", page)) | set(re.findall(r"`([A-Z][A-Za-z]+)`", page))
    methods = {name for name, value in vars(Memory).items() if inspect.isfunction(value) and not name.startswith("_")}
    for name, method in [(name, getattr(Memory, name)) for name in methods]:
        assert inspect.getdoc(method), name
    public = set(vault_memory.__all__) - {"__version__"}
    assert public - told == set()
    assert told - public - methods == set()


def test_importing_the_package_imports_nothing_of_it() -> None:
    code = "import sys, vault_memory; print([m for m in sys.modules if m.startswith('vault_memory.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_index_is_built_and_answers_cite(root: Path) -> None:
    with Memory(root) as memory:
        answer = memory.recall("what does Peter prefer?", k=1, since="2025-11", until=date(2025, 12, 1))
        assert isinstance(answer, Answer)
        (hit,) = answer.results
        assert (hit.source, hit.confidence) == ("memory/2025-11-27.md#L2", 0.9)
        assert answer.fresh
        assert memory.get("memory.md", lines=(2, 2)).text == "- Lives in Bergen."
        assert memory.recall("Peter", kinds=["opinion"], entities=["Peter"]).results[0].kind == "opinion"


def test_what_is_retained_is_found(root: Path) -> None:
    with Memory(str(root)) as memory:
        done = memory.retain("Prefers tea.", kind="opinion", entities=["Peter"], confidence=0.8, day="2025-11-28")
        assert (done.path, done.bullet) == ("memory/2025-11-28.md", "- O(c=0.8) @Peter: Prefers tea.")
        assert "tea" in memory.recall("tea", k=1).results[0].content
        profile = memory.entity("Peter")
        assert profile and len(profile.facts) == 3
        assert [opinion.statement for opinion in memory.opinions()]
        assert memory.index(rebuild=True).rebuilt == "asked for"


def test_reflecting_can_be_planned_done_and_undone(root: Path) -> None:
    with Memory(root) as memory:
        planned = memory.reflect(dry_run=True)
        assert planned.edits
        assert not (root / "bank").exists()
        assert [edit.path for edit in memory.reflect().edits] == [edit.path for edit in planned.edits]
        memory.undo()
        assert not list(root.glob("bank/**/*.md"))


def test_a_context_is_framed_and_within_its_budget(root: Path) -> None:
    with Memory(root) as memory:
        bundle = memory.context("what does Peter prefer?", budget=300)
        assert "Prefers short messages." in bundle.text
        assert bundle.tokens <= 300


def test_a_recall_is_journalled_unless_told_otherwise(root: Path) -> None:
    journal = root / ".memory" / "journal"
    with Memory(root) as memory:
        memory.recall("bicycle", journal=False)
        assert not journal.exists()
        memory.recall("bicycle")
        assert list(journal.iterdir())


def test_several_threads_may_ask_and_write_at_once(root: Path) -> None:
    with Memory(root) as memory, ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(memory.recall, "bicycle", k=1) for _ in range(8)]
        memory.retain("Has a red kite.", entities=["Peter"])
        assert {future.result().results[0].path for future in asked} == {"memory/2025-11-27.md"}


def test_what_is_wrong_is_an_error_of_the_tree(root: Path, tmp_path: Path) -> None:
    with pytest.raises(VaultError):
        Memory(tmp_path / "nowhere")
    with Memory(root) as memory:
        for wrong in ({"since": "some day"}, {"kinds": ["X"]}, {"mode": "best"}, {"source": "sessions"}):
            with pytest.raises(UsageError):
                memory.recall("Peter", **wrong)  # type: ignore[arg-type]
        with pytest.raises(UsageError):
            memory.retain("", kind="opinion")
        with pytest.raises(UsageError, match="from 0 to 1"):
            memory.retain("Prefers tea.", confidence=3)


def test_one_text_where_several_are_taken_is_refused(root: Path) -> None:
    with Memory(root) as memory:
        for call in (
            lambda: memory.recall("bicycle", entities="Peter"), lambda: memory.retain("Sings.", entities="Peter"),
            lambda: memory.index("memory"),
        ):  # fmt: skip
            with pytest.raises(UsageError, match="list of texts"):
                call()
    assert sorted(path.name for path in (root / "memory").iterdir()) == ["2025-11-27.md"]
