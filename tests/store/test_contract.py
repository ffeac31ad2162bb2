"""What indexing and search rely on in a store: whoever writes a second one adds it to STORES.

Notes go in as indexing prepares them; candidates come out under filters, for who may see them.
"""

import ast
import contextlib
import inspect
import re
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from vault_memory.config import Config
from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.errors import BusyError, IndexDamagedError
from vault_memory.indexing.prepare_note import prepare
from vault_memory.store import embedding_rows, note_queries, rows
from vault_memory.store.content_digest import damage, digest
from vault_memory.store.search_queries import Lexicon, Search
from vault_memory.store.view import ALL, Filters, Store
from vault_memory.text.calendar_days import Span
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import File

PACKAGE = Path(__file__).parents[2] / "vault_memory"
OPEN = ("global", "agent:moss")

VAULT = {
    "memory/2025-11-04.md": "## Retain\n- W @Nora: Keeps walnuts by the kettle.\n- O(c=0.8) @Peter: Likes the ferry.\n",
    "memory/2025-11-06.md": "# Thursday\n\nRowed to the lighthouse. #boat/old\n\n## Retain\n- B @Nora: Rowed out.\n",
    "bank/entities/Nora.md": "---\naliases: [Captain]\n---\n# Nora\n\nShe keeps the light.\n",
    "Work/plan.md": "---\ntags: [work]\n---\n# Harbour plan\n\nPaint the harbour wall.\n\nSee [[Nora#^wall]].\n",
    "Private/diary.md": "---\nscope: agent:adder\n---\n# Zanzibar\n\nA walnut, harboured: [[Nora#^wall]]. #secret\n",
    "memory/2025-11-08.md": "## Retain\n- W(scope=agent:adder) @Quibble: Walnut by the ferry on the lighthouse wall.\n",
}
HIDDEN = {"Private/diary.md"}
"""And the fact of the eighth, whose heading is open."""


def sqlite(path: Path) -> Store:
    Store.create(path).close()
    return Store.open(path)


STORES: dict[str, Callable[[Path], Store]] = {"sqlite": sqlite}


@pytest.fixture(params=STORES)
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with contextlib.closing(STORES[request.param](tmp_path / "index")) as store:
        yield store


@pytest.fixture
def store(empty: Store) -> Store:
    for path, text in VAULT.items():
        put(empty, path, text)
    return empty


def put(store: Store, path: str, text: str) -> int:
    """Store one note; returns how many of its passages found their vector there."""
    data = text.encode()
    ready = prepare(File(path, len(data), 1, 1), data, Vault(Config(store.file.parent)))

    with store.writing():
        space = embedding_rows.make_space(store, builtin().id, builtin().dimensions)
        _, written = rows.put_note(store, ready, builtin().embed_contexts, space)
        Lexicon(store.view(ALL)).refresh(store)
        store.grow()
    return written["passages"] - written["embedded"]


def lanes(store: Store, scopes: tuple[str, ...] = ALL) -> Search:
    embedding_rows.load_vector_functions(store)
    return Search(store.view(scopes))


def texts(search: Search, ids: Any) -> list[str]:
    found = search.passages(ids)
    return [found[i].text for i in ids if i in found]


# --- notes in --------------------------------------------------------------------------------------------------------


def test_a_note_replaces_what_was_there_and_takes_all_of_it_along_when_it_goes(empty: Store) -> None:
    nothing = digest(empty)
    for text in (VAULT["Work/plan.md"], VAULT["memory/2025-11-04.md"]):
        put(empty, "a.md", text)
        alone = digest(empty)
        with empty.writing():
            rows.remove(empty, empty.notes()["a.md"].id)
        assert digest(empty) == nothing and not empty.notes()
        assert embedding_rows.count_vectors(empty.view(ALL), embedding_rows.Space(1, builtin().id, 128)) == 0
        put(empty, "a.md", text)
        assert digest(empty) == alone
    assert not damage(empty)
    assert list(empty.notes(["a.md"])) == ["a.md"] and not empty.notes(["b"])


def test_a_failure_undoes_all_of_a_transaction(store: Store) -> None:
    before, state = digest(store), store.state()
    with pytest.raises(ZeroDivisionError), store.writing():
        rows.remove(store, store.notes()["Work/plan.md"].id)
        store.grow()
        raise ZeroDivisionError
    assert (digest(store), store.state()) == (before, state)
    put(store, "new.md", "## Retain\n- W @Nobody: Is new.\n")
    assert store.state() != state
    assert "nobody" in note_queries.spellings(store.view(ALL))


def test_a_reader_sees_one_moment_and_a_second_writer_is_told(store: Store) -> None:
    with Store.opened(store.file) as other, other.snapshot():
        assert other.view(ALL).count_notes() == len(VAULT)
        put(store, "new.md", "New.\n")
        assert other.view(ALL).count_notes() == len(VAULT)
    with store.writing(), pytest.raises(BusyError), Store.opened(store.file) as other, other.writing():
        pass


def test_a_damaged_index_raises_what_is_named(store: Store) -> None:
    file = store.file
    store.checkpoint()
    store.close()
    data = bytearray(file.read_bytes())
    data[4096:20480] = bytes(16384)
    file.write_bytes(data)
    with pytest.raises(IndexDamagedError), Store.opened(file) as opened:
        assert damage(opened)
        digest(opened)


# --- candidates ------------------------------------------------------------------------------------------------------


def test_words_find_passages_best_first_and_equal_ones_by_path(store: Store) -> None:
    search = lanes(store)
    found = search.lexical(['"walnut"'], 9)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert len(found) == 3 and len(search.lexical(['"walnut"', '"harbour"'], 2)) == 2
    assert "walnut" in texts(search, [found[0][0]])[0].casefold()
    put(store, "b/copy.md", "Same words.\n")
    put(store, "a/copy.md", "Same words.\n")
    same = search.lexical(['"same words"'], 9)
    assert [search.notes([p.note_id])[p.note_id].path for p in search.passages([i for i, _ in same]).values()] == [
        "a/copy.md", "b/copy.md",
    ]  # fmt: skip
    assert search.matching('"walnut"') == 3 and Lexicon(store.view(ALL)).count('"walnut"').notes == 3


def test_titles_files_and_letters_find_notes(store: Store) -> None:
    search = lanes(store)
    path_of = {note.id: note.path for note in search.notes(range(1, 20)).values()}
    assert path_of[search.titles(['"captain"'], 9)[0][0]] == "bank/entities/Nora.md"
    assert [path_of[i] for i in search.files(["plan.md"])] == ["Work/plan.md"]
    assert texts(search, search.substring("#boat/", 9)) == ["Rowed to the lighthouse. #boat/old"]


def test_meaning_finds_the_same_passage_whatever_stands_beside_it(store: Store) -> None:
    search, space = lanes(store), embedding_rows.all_spaces(store)[builtin().id]
    (vector,) = builtin().embed(["paint the wall of the harbour"])
    found = search.semantic(space, vector, 50, 3)
    assert "Paint the harbour wall." in texts(search, [i for i, _ in found])
    assert search.cosines(space, [i for i, _ in found], vector) == pytest.approx(dict(found))
    search.restrict(Filters(kinds=("world",)), [], [])
    assert {search.passages([i])[i].kind for i, _ in search.semantic(space, vector, 50, 9)} == {"world"}


def test_entities_and_days_find_facts(store: Store) -> None:
    search = lanes(store)
    assert len(texts(search, search.mentioning(["nora"], 9))) == 2
    assert texts(search, search.on_pages(["nora", "captain"], 9)) == ["She keeps the light."]
    inside, total = search.within(Span(date(2025, 11, 6), date(2025, 11, 7)), None, 9)
    (note,) = search.notes({passage.note_id for passage in search.passages(inside).values()}).values()
    assert total == len(inside) == 2 and note.day == "2025-11-06"


@pytest.mark.parametrize(
    ("filters", "allowed"),
    [
        (Filters(since=date(2025, 11, 5)), {"memory/2025-11-06.md", "memory/2025-11-08.md"}),
        (Filters(until=date(2025, 11, 5)), {"memory/2025-11-04.md"}),
        (Filters(kinds=("opinion",)), {"memory/2025-11-04.md"}),
        (Filters(tags=("boat",)), {"memory/2025-11-06.md"}),
        (Filters(tags=("#work",)), {"Work/plan.md"}),
        (Filters(as_of=date(2025, 11, 4)), {*VAULT} - {"memory/2025-11-06.md", "memory/2025-11-08.md"}),
        (Filters(entities=("Nora",)), {*VAULT} - {"memory/2025-11-08.md"}),
    ],
)
def test_a_filter_holds_in_every_lane(store: Store, filters: Filters, allowed: set[str]) -> None:
    search = lanes(store)
    search.restrict(filters, ["nora"], ["Nora"])
    assert seen_in_lanes(store, search) <= allowed
    search.release()
    assert seen_in_lanes(store, search) == {*VAULT}


def seen_in_lanes(store: Store, search: Search) -> set[str]:
    """The paths of all that any lane finds."""
    space = embedding_rows.all_spaces(store)[builtin().id]
    (vector,) = builtin().embed(["walnuts by the harbour and the lighthouse"])
    found = [i for i, _ in search.lexical(['"walnut"', '"harbour"', '"lighthouse"', '"keeps"', '"rowed"'], 99)]
    found += [i for i, _ in search.semantic(space, vector, 99, 99)]
    found += search.mentioning(["nora", "peter", "quibble"], 99) + search.on_pages(["nora"], 99)
    found += search.substring("a", 99) + search.opening(range(1, 20), 99)
    found += search.within(Span(date(2025, 11, 1), date(2025, 11, 30)), None, 99)[0]
    passages = search.passages(found)
    assert passages.keys() >= set(found)
    return {search.notes([passage.note_id])[passage.note_id].path for passage in passages.values()}


# --- who may see what ------------------------------------------------------------------------------------------------


def test_no_lane_finds_what_is_out_of_scope(store: Store) -> None:
    assert seen_in_lanes(store, lanes(store, OPEN)) == {*VAULT} - HIDDEN
    search = lanes(store, OPEN)
    hidden = lanes(store).substring("Quibble", 9)
    assert hidden and not search.passages(hidden) and not search.mentioning(["quibble"], 9)
    assert not search.titles(['"zanzibar"'], 9) and not search.files(["diary.md"])
    assert seen_in_lanes(store, lanes(store, ())) == set()  # no scopes open nothing: none was left out by mistake
    store.outdated = ("Work/plan.md",)
    assert seen_in_lanes(store, lanes(store, OPEN)) == {*VAULT} - HIDDEN - {"Work/plan.md"}


def test_no_query_about_notes_tells_of_what_is_out_of_scope(store: Store) -> None:
    every = store.view(ALL)
    given = {
        **dict.fromkeys(("today", "day", "last", "until"), date(2025, 12, 1)), "after": date(2025, 1, 1),
        "days": Span(date(2025, 11, 1), date(2025, 11, 30)), "space": embedding_rows.all_spaces(store)[builtin().id],
        "ids": lanes(store).substring("", 99), "keys": [], "slug": "quibble", "slugs": ["quibble", "nora"],
        "wording": 1, "pairs": [("x", "quibble")], "paths": [*VAULT], "folder": "", "path": "Private/diary.md",
        "limit": 99, "preferred": ("world",), "targets": ["Private/diary", "diary", "quibble"], "without": (),
        "kind": 0, "line": 1, "scope": "global", "called": ["quibble"],
    }  # fmt: skip
    asked = 0
    for module in (note_queries, embedding_rows):
        for name, query in inspect.getmembers(module, inspect.isfunction):
            parameters = [*inspect.signature(query).parameters.values()]
            if query.__module__ != module.__name__ or not parameters:
                continue
            first, *others = parameters
            if first.annotation not in ("View", type(every)):
                continue
            assert first.default is inspect.Parameter.empty, f"{name} could be asked without saying for whom"
            with pytest.raises(TypeError):
                query()
            arguments = [given[p.name] for p in others]
            told = [repr(_plain(query(view, *arguments))) for view in (every, store.view(OPEN))]
            for word in ("zanzibar", "diary", "quibble", "secret"):
                assert word not in told[1].casefold(), (name, told[1])
            asked += told[0] != told[1]
    assert asked > 15


def test_no_method_of_a_search_tells_of_what_is_out_of_scope(store: Store) -> None:
    put(store, "bank/entities/Quibble.md", "---\nscope: agent:adder\n---\n# Quibble\n\nA walnut in the diary.\n")
    every, seen = lanes(store), lanes(store, OPEN)
    (vector,) = builtin().embed(["a walnut by the ferry on the lighthouse wall"])
    passages, notes = every.substring("", 99), [note.id for note in store.notes().values()]
    given = {
        "phrases": ['"walnut"', '"diary"'], "match": '"walnut"', "names": ["diary.md"], "text": "alnut", "limit": 99,
        "space": embedding_rows.all_spaces(store)[builtin().id], "vector": vector, "pool": 99, "ids": passages,
        "notes": notes,
        "slugs": ["quibble"], "period": Span(date(2025, 11, 4), date(2025, 11, 8)), "around": None,
    }  # fmt: skip
    private_notes = {store.notes()[path].id for path in (*HIDDEN, "bank/entities/Quibble.md")}
    private_passages = {
        i for i, each in every.passages(passages).items() if each.note_id in private_notes or "Quibble" in each.text
    }
    of_notes = ("files", "notes", "titles")
    for name, method in inspect.getmembers(Search, inspect.isfunction):
        if name.startswith("_") or name in ("restrict", "release", "repeats"):
            continue
        asked = given | {"ids": notes} if name in of_notes else given
        needed = [p.name for p in inspect.signature(method).parameters.values() if p.default is p.empty]
        arguments = [asked[parameter] for parameter in needed[1:]]
        told = [_plain(method(search, *arguments)) for search in (every, seen)]
        assert told[0] != told[1], name
        hidden = private_notes if name in of_notes else private_passages
        assert hidden.isdisjoint(_ids(told[1][0] if name == "within" else told[1])), name
    assert every.titles(['"quibble"'], 9, with_all=True) and not seen.titles(['"quibble"'], 9, with_all=True)
    assert (every.matching('"walnut"'), seen.matching('"walnut"')) == (4, 1)


def _plain(found: Any) -> Any:
    return [_plain(each) for each in found] if isinstance(found, Iterator | list | tuple) else found


def _ids(found: Any) -> Iterator[Any]:
    """The ids of notes or passages that a lane has found, in whatever it gives them with."""
    for each in found if isinstance(found, list | dict) else ():
        yield from each[:1] if isinstance(each, list) else [each]


def test_only_the_store_speaks_sql(store: Store) -> None:
    statement = re.compile(
        r"\b(SELECT .* FROM|INSERT (INTO|OR)|DELETE FROM|UPDATE \w+ SET|PRAGMA \w|BEGIN IMMEDIATE)\b"
    )
    reader = PACKAGE / "sessions" / "readers.py"  # reads another program's database
    for file in PACKAGE.rglob("*.py"):
        if file.parent.name == "store" or file == reader:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", "")}
                assert not names & {"apsw", "sqlite3"}, file
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not statement.search(node.value), (file, node.value)


# --- figures and use -------------------------------------------------------------------------------------------------


def test_figures(store: Store) -> None:
    every, seen = store.view(ALL), store.view(OPEN)
    assert (note_queries.count_facts(every), note_queries.count_facts(seen)) == (4, 3)
    assert (every.totals().notes, seen.totals().notes) == (6, 5)
    assert note_queries.notes_by_day(every) == {date(2025, 11, day): 1 for day in (4, 6, 8)}
    assert note_queries.note_figures(every)[2] == every.totals().words > 0
