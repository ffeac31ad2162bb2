"""The public Python API, as the Guide's page "From Python" tells of it."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from vaults import fill

import vault_memory
from vault_memory import Answer, Federation, Memory, UsageError, VaultError, errors

GUIDE = Path(__file__).parent.parent / "sample-vault" / "Guide" / "From Python.md"
INTERNAL = [
    "answer", "answers", "add_other_sources", "retain_once", "create_note", "edit", "project_summary", "__init__",
    "_get",
]  # fmt: skip
"""What the project's own interfaces use: the Guide says that it may change."""
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
    internal = {
        "UnknownMethodError",  # a daemon of another version: no daemon to its clients
        "IndexDamagedError",  # whoever meets it builds the index anew
    }
    named = {
        name for name, value in vars(errors).items() if inspect.isclass(value) and value.__module__ == errors.__name__
    }
    assert public == named - internal


def test_the_guide_names_every_public_name_and_method_and_none_that_is_not(root: Path) -> None:
    page = GUIDE.read_text("utf-8")
    told = set(re.findall(r"`memory\.([a-z_]+)", page)) | set(re.findall(r"`([A-Z][A-Za-z]+)`", page))
    with Federation(root) as memory:
        members = {name for name in dir(memory) if not name.startswith("_")}
    for name in members & {*vars(Memory), *vars(Federation)}:
        assert inspect.getdoc(getattr(Federation, name)), name
    assert set(vault_memory.__all__) - {"__version__"} | members == told


def test_what_a_method_returns_is_public() -> None:
    methods = (method for name, method in inspect.getmembers(Memory, inspect.isfunction) if name not in INTERNAL)
    returned = {name for method in methods for name in re.findall(r"\b[A-Z]\w+", str(method.__annotations__["return"]))}
    assert returned - {"None", "Self"} - set(vault_memory.__all__) == set()


def test_an_interface_calls_the_api_and_nothing_beneath() -> None:
    package = Path(vault_memory.__file__).parent
    files = [*package.glob("cli/*.py"), *package.glob("agents/*.py"), package / "daemon" / "rpc_methods.py"]
    beneath = re.compile(r"\.(?:index_file|_?writer|search)\.|\bVault\(")
    for file in files:
        lines = [line for line in file.read_text("utf-8").splitlines() if not re.match(r"\s*(?:from|import) ", line)]
        assert not [line for line in lines if beneath.search(line)], file.name


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
        done = memory.retain("Prefers tea.", kind="opinion", entities=["Peter"], confidence=0.8, date="2025-11-28")
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


def test_several_threads_may_ask_and_write_at_once(root: Path) -> None:
    with Memory(root) as memory, ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(memory.recall, "bicycle", k=1) for _ in range(8)]
        memory.retain("Has a red kite.", entities=["Peter"])
        assert {future.result().results[0].path for future in asked} == {"memory/2025-11-27.md"}


def test_each_thread_is_told_of_the_index_that_its_own_answer_came_from(root: Path) -> None:
    with Memory(root) as memory, ThreadPoolExecutor(1) as other:
        memory.entities(scopes=["global"])
        mine = memory.index_state
        (root / "new.md").write_text("- W @Nora: Has a kite.\n")
        other.submit(memory.entities).result()
        theirs = other.submit(lambda: memory.index_state).result()
        assert mine and theirs and memory.index_state is mine
        assert (mine.notes, theirs.notes) == (2, 3)


def test_what_would_be_retained_is_shown_and_not_written(root: Path) -> None:
    with Memory(root) as memory:
        planned = memory.retain("Sings.", entities=["Peter"], date="2025-11-29", dry_run=True)
        assert (planned.path, planned.bullet) == ("memory/2025-11-29.md", "- W @Peter: Sings.")
        assert not (root / planned.path).exists()
        assert not memory.has_index()
        memory.index()
        assert memory.has_index()
        assert memory.check()[0] == memory.check()[1]
        assert memory.backfill() is None


def test_what_is_wrong_is_an_error_of_the_tree(root: Path, tmp_path: Path) -> None:
    with pytest.raises(VaultError):
        Memory(tmp_path / "nowhere")
    with Memory(root) as memory, pytest.raises(UsageError, match="from 0 to 1"):
        memory.retain("Prefers tea.", confidence=3)


SEVERAL = [
    (name, option)
    for name, method in inspect.getmembers(Memory, inspect.isfunction)
    for option in inspect.signature(method).parameters
    if option in ("entities", "kinds", "tags", "scopes", "paths", "only") and not name.startswith("_")
]


@pytest.mark.parametrize(("name", "option"), SEVERAL)
def test_one_text_where_several_are_taken_is_refused(root: Path, name: str, option: str) -> None:
    with Memory(root) as memory:
        method = getattr(memory, name)
        needed = ["x" for each in inspect.signature(method).parameters.values() if each.default is each.empty]
        for wrong in ("Peter", 5, [5]):
            with pytest.raises(UsageError, match="list of texts"):
                method(*needed, **{option: wrong})
    assert sorted(path.name for path in (root / "memory").iterdir()) == ["2025-11-27.md"]


WRONG: dict[str, Callable[[Memory], object]] = {
    "a date that is none": lambda memory: memory.recall("Peter", since="some day"),
    "a kind that is none": lambda memory: memory.recall("Peter", kinds=["X"]),
    "a mode that is none": lambda memory: memory.recall("Peter", mode="best"),
    "other notes than one vault's": lambda memory: memory.recall("Peter", source="sessions"),
    "a fact that says nothing": lambda memory: memory.retain("", kind="opinion"),
    "a format that is none": lambda memory: memory.context(format="yaml"),
    "a prompt that is no text": lambda memory: memory.context(5),  # type: ignore[arg-type]
    "a negative budget": lambda memory: memory.context(budget=-3),
    "a path that is no text": lambda memory: memory.get(5),  # type: ignore[arg-type]
    "a path that UTF-8 cannot hold": lambda memory: memory.get("\ud800"),
    "lines that are words": lambda memory: memory.get("memory.md", lines=("a", "b")),  # type: ignore[arg-type]
    "one line": lambda memory: memory.get("memory.md", lines=3),  # type: ignore[arg-type]
    "lines the wrong way round": lambda memory: memory.get("memory.md", lines=(5, 2)),
    "no tokens": lambda memory: memory.get("memory.md", max_tokens=0),
    "an entity that is no text": lambda memory: memory.entity(5),  # type: ignore[arg-type]
    "a day that is none": lambda memory: memory.retain("Sings.", date="some day"),
    "a page to reflect that is none": lambda memory: memory.reflect(only=["pages"]),
    "a source that one vault has not": lambda memory: memory.context("bicycle", source="sessions"),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG.keys())
def test_an_option_that_cannot_be_read_is_a_usage_error(root: Path, call: Callable[[Memory], object]) -> None:
    with Memory(root) as memory, pytest.raises(UsageError):
        call(memory)


def test_a_number_beyond_what_the_index_counts_to_means_all(root: Path) -> None:
    with Memory(root) as memory:
        assert memory.recall("bicycle", k=10**20, budget=10**20).results
        assert memory.context("bicycle", budget=10**20).text
        assert memory.get("a" * 300).not_found


def test_dates_are_texts_or_dates_by_the_names_of_the_command_line(root: Path) -> None:
    with Memory(root) as memory:
        assert memory.retain("Sings.", date=date(2025, 11, 29)).path == "memory/2025-11-29.md"
        day = datetime(2025, 12, 1, tzinfo=UTC)
        pages = {edit.path for edit in memory.reflect(since=date(2025, 11, 1), now=day, dry_run=True).edits}
        late = {edit.path for edit in memory.reflect(since=date(2025, 12, 1), now=day, dry_run=True).edits}
        assert "bank/world.md" in pages - late
        assert "bicycle" in memory.context(now="2025-11-28").text
        assert "bicycle" not in memory.context(now="2026-02-01").text
