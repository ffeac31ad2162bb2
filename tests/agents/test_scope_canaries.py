"""What lies outside an asker's scopes never reaches them: canaries, on every surface.

What no score decides is the same whether or not there is anything outside: counts, entities, opinions, lines of notes,
which words are unknown. What scores decide (recall, context) holds no word and no path from outside. Not claimed: the
index's generation, how many files wait to be indexed, and that how rare a word is counts what is hidden, too.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from reflecting import reflected, texts
from vaults import fill, memory, opened, put

from vault_memory.context.bundle import ContextRequest, bundle
from vault_memory.context.prompt_sheet import FORMS
from vault_memory.federation import Federation
from vault_memory.health.status import status
from vault_memory.indexing.held_index import HeldIndex
from vault_memory.indexing.index_file import Freshness
from vault_memory.memory import Memory
from vault_memory.rendering.common import index_state_document
from vault_memory.rendering.notes import entities_document, entity_document, get_document, opinions_document
from vault_memory.rendering.recall import left_out_notes, recall_document, recall_notes
from vault_memory.rendering.status import narrowed
from vault_memory.search.answer import Request
from vault_memory.search.candidates import LEXICAL_POOL
from vault_memory.store.search_queries import Lexicon
from vault_memory.store.view import ALL, Filters
from vault_memory.vault.locations import writer_lock

NOW = datetime(2025, 12, 10, tzinfo=UTC)
OPEN = ("global", "project:tern", "agent:moss")
SHUT = ("project:other", "agent:adder", "custom:diary", "user:nobody")

WORDS = ("walnut", "harbour", "kettle", "Lisbon", "lantern", "ferry", "prefers", "not", "since", "moved to")
SECRETS = ("zanzibar", "quokka", "xylophone")
NAMES = ("Peter", "Nora", "Kallö")
HIDDEN_NAMES = ("Quibble", "Vex")

QUESTIONS = (
    "walnut harbour", "what does Peter prefer?", "zanzibar quokka xylophone", "Quibble", "tell me about Vex",
    "what happened on 2025-11-06", "Nora moved to Lisbon", "Petes lantern", "“",
)  # fmt: skip

Vault = dict[str, str]


@st.composite
def sentences(draw: st.DrawFn, words: tuple[str, ...]) -> str:
    return " ".join(draw(st.lists(st.sampled_from(words), min_size=2, max_size=6))).capitalize() + "."


@st.composite
def bullets(draw: st.DrawFn, scope: str, words: tuple[str, ...], names: tuple[str, ...]) -> str:
    keys = f"(scope={scope})" if scope else ""
    name = draw(st.sampled_from(names))
    kind = draw(st.sampled_from("WBOS"))
    return f"- {kind}{keys} @{name}: {draw(sentences(words))}"


@st.composite
def notes(draw: st.DrawFn, scope: str, hidden: bool) -> str:
    words, names = (WORDS + SECRETS, NAMES + HIDDEN_NAMES) if hidden else (WORDS, NAMES)
    head = f"---\nscope: {scope}\naliases: [{draw(st.sampled_from(('Pete', 'Petes', 'The Keeper')))}]\n---\n"
    told = draw(st.lists(bullets("", words, names), max_size=3))
    title = draw(st.sampled_from(names))
    prose = "\n\n".join(draw(st.lists(sentences(words), max_size=3)))
    return f"{head}# {title}\n\n{prose}\n\n## Retain\n" + "\n".join(told) + "\n"


def paths(prefix: str, names: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from(
        [f"memory/2025-11-0{n}{prefix}.md" for n in range(4, 8)]
        + [f"{prefix}Work/{name} plan.md" for name in names]
        + [f"bank/entities/{prefix}{name}.md" for name in names]
    )


index_state_notes = st.dictionaries(
    paths("", NAMES), st.sampled_from(OPEN).flatmap(lambda scope: notes(scope, False)), min_size=1, max_size=5
)
hidden_notes = st.dictionaries(
    paths("x", HIDDEN_NAMES), st.sampled_from(SHUT).flatmap(lambda scope: notes(scope, True)), min_size=1, max_size=5
)


_LINE = re.compile(r'^L[\d-]+ (.*)$|<line [^>]*>(.*?)</line>|"content": "((?:[^"\\]|\\.)*)"', re.MULTILINE)


def contexts(mine: Memory) -> list[object]:
    """What an agent is handed in each format: with a budget that cuts nothing off, since scores order it.

    Of lines that say the same, scores decide which is told: so it is left out where each stands.
    """
    wanted = [
        ContextRequest(form_prompt, 9000, OPEN, form, now=NOW, recent_days=days)
        for form in FORMS
        for form_prompt, days in (("walnut harbour, Peter, zanzibar?", 0), ("", 60))
    ]
    wanted += [
        ContextRequest("zanzibar quokka", 9000, OPEN, now=NOW, source="all"),
        ContextRequest("", 20, OPEN, now=NOW),
    ]
    said: list[object] = []
    for each in wanted:
        found = bundle(Federation(mine.config), each)
        lines = ["".join(line) for line in _LINE.findall(found.text)]
        assert len(lines) >= len(found.shown), (lines, found)
        said.append([sorted(lines), len(found.shown), found.core, found.omitted, found.degraded])
    return said


def everything(root: Path, asked_paths: list[str], told: dict[str, str]) -> tuple[str, str]:
    """All that an asker can get out of a vault: what no score decides, and what one does."""
    mine = memory(root, folder_scopes=tuple(sorted(told.items())))
    requests = [Request(text, NOW, 300, None, Filters(scopes=OPEN), explain=True) for text in QUESTIONS]
    requests += [Request(text, NOW, 300, None, Filters(scopes=OPEN), mode="semantic") for text in QUESTIONS[:3]]
    requests += [Request("walnut", NOW, 300, None, Filters(scopes=OPEN, entities=(name,))) for name in ("Vex", "Pete")]
    answers = list(mine.answers(requests, keep=False)) + list(
        Federation(mine.config).answers(_everywhere(requests[:2]), keep=False)
    )
    ranked: list[object] = [_plain(recall_document(answer)) for answer in answers]
    ranked += [(recall_notes(answer), left_out_notes(answer.omitted)) for answer in answers]
    ranked += contexts(mine)
    said: list[object] = [(answer.understood, answer.notes, answer.passages) for answer in answers]
    said.append(_status(narrowed(status(mine, OPEN))))
    for name in (*NAMES, *HIDDEN_NAMES, "Pete", "The Keeper"):
        profile = entity_document(mine.entity(name, scopes=OPEN), name)
        said.append(_plain(profile | index_state_document(mine.index_state)))
        said.append(mine.similar_names(name, OPEN))
        said.append(_plain(opinions_document(mine.opinions(name, scopes=OPEN))))
    said.append(entities_document(mine.entities(scopes=OPEN)))
    said.append(_plain(opinions_document(mine.opinions(scopes=OPEN)) | index_state_document(mine.index_state)))
    said += [get_document(mine.get(path, lines, scopes=OPEN)) for path in asked_paths for lines in (None, (3, 4))]
    said += [mine.notes_below("", OPEN), *(mine.notes_called(name, OPEN) for name in (*NAMES, *HIDDEN_NAMES))]
    return repr(said), json.dumps(ranked)


def hides(ranked: str, words: Iterable[str]) -> bool:
    """Whether none of these words stand in answers, but where a question that holds them is told again."""
    asked = re.sub(r'"(?:unknown|near|words)": \[[^]]*]|no note mentions [^.]*\.', "", ranked.casefold())
    for question in QUESTIONS:
        asked = asked.replace(json.dumps(question.casefold())[1:-1], "")
    return not any(word.casefold() in asked for word in words)


def _everywhere(requests: list[Request]) -> list[Request]:
    return [request._replace(source="all") for request in requests]


def _status(document: dict[str, object]) -> dict[str, object]:
    """What an agent is told of the vault, without where it lies."""
    index = document["index"]
    assert isinstance(index, dict)
    kept = {key: value for key, value in index.items() if key not in ("generation", "path", "file")}
    return {key: value for key, value in document.items() if key != "vault"} | {"index": kept}


def _plain(document: dict[str, object]) -> dict[str, object]:
    """A document without what may differ."""
    # What is known is measured against bounds that hold for the whole vault, as the Guide says of words' rarity.
    found = {key: value for key, value in document.items() if key not in ("seconds", "known")}
    if isinstance(index := found.get("index"), dict):
        found["index"] = {key: value for key, value in index.items() if key != "generation"}
    if isinstance(results := found.get("results"), list):
        kept = [{k: v for k, v in result.items() if k not in ("rank", "score", "uri")} for result in results]
        found["results"] = sorted(kept, key=lambda result: (result["path"], result["start_line"]))
    return found


def shown(notes: Mapping[str, str], asked_paths: list[str], told: dict[str, str]) -> tuple[str, str]:
    with TemporaryDirectory() as folder:
        root = fill(Path(folder) / "v", notes)
        return everything(root, asked_paths, told)


def might_as_well_not_be_there(seen: Vault, hidden: Vault, by_folder: bool) -> None:
    """Whether a property of theirs or the folder they lie in puts them out of scope."""
    told = {"zz": "agent:adder"} if by_folder else {}
    if by_folder:
        hidden = {
            f"ZZ/{path}": text.replace(text.partition("\n---\n")[0], "---\nx: 1") for path, text in hidden.items()
        }
    asked = sorted({*seen, *hidden})
    said, ranked = shown({**seen, **hidden}, asked, told)
    assert said == shown(seen, asked, told)[0]
    assert hides(ranked, (*SECRETS, *hidden.keys()))


def drawn(examples: int) -> Callable[[], None]:
    """Each example builds two indexes: to make a failing one smaller would take minutes."""
    phases = (Phase.explicit, Phase.reuse, Phase.generate)
    test = given(index_state_notes, hidden_notes, st.booleans())(might_as_well_not_be_there)
    return settings(max_examples=examples, phases=phases)(test)


test_notes_out_of_scope_might_as_well_not_be_there = drawn(4)
test_notes_out_of_scope_of_many_vaults = pytest.mark.slow(drawn(60))


LEAKY = {
    "bank/entities/Vex.md": "---\nscope: agent:adder\naliases: [Pete]\n---\n# Vex Quibble\n\nZanzibar.\n",
    "memory/2025-11-06.md": "---\nscope: agent:adder\n---\n## Retain\n- W @PETE: Zanzibar.\n- W @Vex: Quokka.\n"
    "- W @PETE @Nora: Does not live by the harbour any more.\n- O(c=0.1) @PETE: Is not a good sailor.\n" * 3,
    "memory/2025-11-08.md": "## Retain\n- W(scope=agent:adder) @Nora @PETE: Zanzibar.\n" * 5,
}  # fmt: skip


def test_pages_of_reflect_are_as_if_what_is_private_were_not_there(tmp_path: Path) -> None:
    """They are for everybody: they do not name a private page, follow its aliases, or spell as private facts do."""
    seen = {
        f"memory/2025-11-0{day}.md": f"## Retain\n- W @Pete: Likes walnuts number {day}.\n"
        f"- W @Nora: Met Pete at the harbour {day}.\n- O(c=0.7) @Pete: Is a good sailor.\n"
        for day in (3, 4, 5)
    }
    empty = {"memory/2025-11-08.md": "## Retain\n"}  # a note that is open all the same
    pages = []
    for name, notes in (("with", {**seen, **LEAKY}), ("without", {**seen, **empty})):
        root = fill(tmp_path / name, notes)
        for _ in range(2):
            reflected(root)
        pages.append(
            {path: text for path, text in texts(root).items() if path.startswith("bank/") and "Vex" not in path}
        )
    assert pages[0] == pages[1] and "bank/entities/Pete.md" in pages[0]
    with_them = memory(tmp_path / "with")
    assert [one.entities for one in with_them.opinions("Pete", scopes=OPEN)] == [("Pete",)]
    assert with_them.opinions("Pete")  # a person sees both


def test_a_fact_links_no_private_page(tmp_path: Path) -> None:
    said = {"memory/2025-11-04.md": "## Retain\n- W @Peter: Rowed out with [[Nora]] and [[Kallö|the harbour]].\n"}
    private = {
        "bank/entities/Nora.md": "---\nscope: agent:adder\n---\n# Nora\n",
        "Secret/Kallö.md": "---\nscope: user:ada\n---\nA plan.\n",
        "Secret/2025-11-04.md": "---\nscope: user:ada\n---\nA day.\n",
    }
    root = fill(tmp_path, {**said, **private})
    reflected(root)
    page = (root / "bank/world.md").read_text("utf-8")
    assert "Rowed out with Nora and the harbour — [[2025-11-04]] L2" in page


HIDING = {
    "memory/2025-11-06.md": "## Retain\n- W @Peter: Prefers tea.\n- W(scope=agent:adder) @Quibble @Peter: Zanzibar.\n",
    "Private/a.md": "---\nscope: agent:adder\n---\n# Vex\n\nZanzibar.\n\n"
    "## Retain\n- W(scope=global): Harbour is open.\n",
}


def test_a_line_that_its_own_key_opens_is_cited_without_its_notes_headings(tmp_path: Path) -> None:
    fill(tmp_path, HIDING)
    (answer,) = memory(tmp_path).answers([Request("harbour open", NOW, 9, None, Filters(scopes=OPEN))], keep=False)
    found = next(result for result in answer.results if result.path == "Private/a.md")
    assert (found.content, found.heading) == ("- W(scope=global): Harbour is open.", ())
    excerpt = memory(tmp_path).get("Private/a.md", scopes=OPEN)
    assert excerpt.text.strip() == "- W(scope=global): Harbour is open."


def test_what_more_there_is_counts_only_what_is_seen(tmp_path: Path) -> None:
    text = "A walnut.\n\n" * (LEXICAL_POOL + 10)  # more than are candidates are only counted
    notes = {"a.md": text, "b.md": f"---\nscope: agent:adder\n---\n{text}"}
    more = []
    for scopes in (ALL, OPEN):
        request = Request("walnut", NOW, 1, mode="lexical", filters=Filters(scopes=scopes))
        (answer,) = memory(fill(tmp_path, notes)).answers([request], keep=False)
        more.append(sum(answer.omitted.values()))
    assert more == [2 * LEXICAL_POOL + 19, LEXICAL_POOL + 9]


def test_every_table_that_tells_of_notes_is_defined_anew(tmp_path: Path) -> None:
    """Who adds a table to the index must say here how an asker sees it."""
    mine = memory(fill(tmp_path, HIDING))
    mine.index()
    open_to_all = {  # of no note, of all of them alike, or keyed by hashes of texts that one must know already
        "meta", "embedding", "embedding_code", "embedder", "journal", "used", "tombstone", "verdict",
        "bearing", "reflected",
    }  # fmt: skip
    with opened(mine) as store:
        assert store.view(OPEN).is_narrowed and not store.view((*OPEN, "agent:adder")).is_narrowed
        tables = {name for (name,) in store.rows("SELECT name FROM main.sqlite_master WHERE type = 'table'")}
        tables = {name for name in tables if not name.startswith(("sqlite_", "passage_fts_", "note_fts_"))}
        for table in tables - open_to_all:
            assert not list(store.view(("agent:nobody",)).rows(f"SELECT * FROM {table}")), table
            seen = repr(list(store.view(OPEN).rows(f"SELECT * FROM {table}"))).casefold()
            assert "zanzibar" not in seen and "quibble" not in seen and "vex" not in seen, table


def test_a_view_needs_its_scopes_and_gives_no_words_but_those_of_what_it_shows(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, HIDING))
    mine.index()
    with opened(mine) as store:
        with pytest.raises(TypeError):
            store.view()  # type: ignore[call-arg]
        with pytest.raises(Exception, match="passage_fts"):
            store.view(OPEN).one("SELECT count(*) FROM passage_fts WHERE passage_fts MATCH 'zanzibar'")
        assert Lexicon(store.view(OPEN)).count('"zanzibar"').passages == 0
        assert Lexicon(store.view(ALL)).count('"zanzibar"').passages == 2


@pytest.mark.parametrize("watched", [False, True])
def test_what_changed_while_another_wrote_is_hidden_only_until_it_is_read(tmp_path: Path, watched: bool) -> None:
    cold = memory(fill(tmp_path, HIDING | {"c.md": "Walnuts are brown.\n", "d.md": "Plums are blue.\n"}))
    cold.index()
    told = [Freshness(0) if watched else None]
    warm = Federation(cold.config, index_file=HeldIndex(cold.config, lambda: told[0]))

    def seen() -> tuple[bool, bool]:
        request = [Request("walnuts plums", NOW, 9, None, Filters(scopes=OPEN))]
        (answer,) = list(warm.answers(request, keep=False))
        paths = {result.path for result in answer.results}
        return "c.md" in paths, "d.md" in paths

    try:
        assert seen() == (True, True)
        with writer_lock(cold.index_file.path, 0):
            put(tmp_path, "c.md", "---\nscope: agent:adder\n---\nWalnuts are brown.\n")
            told[0] = Freshness(1) if watched else None
            assert seen() == (False, True)
            put(tmp_path, "c.md", "Walnuts are brown, or were.\n")
            assert seen() == (False, True)
        cold.index()
        told[0] = Freshness(0) if watched else None
        assert seen() == (True, True)
    finally:
        warm.close()


def test_another_map_of_folders_holds_at_once(tmp_path: Path) -> None:
    fill(tmp_path, {"Private/a.md": "Zanzibar is secret.\n", "b.md": "Zanzibar is an island.\n"})

    def found(**config: object) -> set[str]:
        request = Request("zanzibar", NOW, 9, None, Filters(scopes=OPEN))
        (answer,) = memory(tmp_path, **config).answers([request], keep=False)
        return {result.path for result in answer.results}

    assert found() == {"Private/a.md", "b.md"}
    assert found(folder_scopes=(("private", "agent:adder"),)) == {"b.md"}
    assert found(folder_scopes=(("private", "agent:moss"),)) == {"Private/a.md", "b.md"}


def test_a_note_that_a_line_of_its_own_opens_is_not_found_by_its_title(tmp_path: Path) -> None:
    """Its title is private, and its path is not what a question is asked for either."""
    head = "---\nscope: agent:adder\naliases: [Zanzibar]\ntags: [zanzibar]\n---\n# Zanzibar\n"
    private = f"{head}\n## Retain\n- W(scope=global): Ferry.\n"
    root = fill(tmp_path, {"Zanzibar/a.md": private, "b.md": "# Walnut\n\nFerry.\n", "c.md": "Zanzibar.\n"})
    request = Request("zanzibar", NOW, 9, None, Filters(scopes=OPEN), mode="lexical")
    (answer,) = memory(root).answers([request], keep=False)
    assert [result.path for result in answer.results] == ["c.md"] and answer.lanes["lexical"] == 1
