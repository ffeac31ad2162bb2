"""Configured embedders in an index: backfill, one space a question, switching, what a server can do wrong."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from model_server import Model, ModelServer, free_port, model_server
from model_server import vector as bag
from sample import Said, call
from vaults import command, fill, memory, opened, put

from vault_memory.embedding.builtin_embedder import BUILTIN_ID
from vault_memory.embedding.configured_embedder import BackfillReport, RemoteEmbedder
from vault_memory.health.doctor import doctor
from vault_memory.health.status import status
from vault_memory.indexing.held_index import HeldIndex
from vault_memory.memory import Memory
from vault_memory.search.answer import Answer, Request
from vault_memory.store import embedding_rows
from vault_memory.vault.locations import writer_lock

NOTES = {
    "memory/2025-11-10.md": "# Monday\n\nThe boat engine was serviced by the harbour.\n\nBread with rye and walnuts.\n",
    "memory/2025-11-12.md": "# Wednesday\n\nThe dentist found nothing.\n\n- a ladder for attics\n- paint for doors\n",
    "Projects/Tern.md": "# Tern\n\nThe tile index is kept on two nodes.\n\n## Costs\n\nRent is due on the first.\n",
}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return fill(tmp_path / "Notes", NOTES)


def with_ollama(root: Path, server: ModelServer, **settings: object) -> Memory:
    """A Memory whose embedder is the server's; a busy machine gets time to answer."""
    usual = {"embedding_batch": 4, "embedding_query_deadline_seconds": 30.0}
    made = memory(root, embedding_provider="ollama", embedding_url=f"http://{server.host}", **{**usual, **settings})
    made.search.remote = RemoteEmbedder(made.config, sleep=lambda _: None)
    return made


def filled(mine: Memory) -> BackfillReport:
    """The report of making the vectors that are missing, once the notes are indexed."""
    mine.index()
    report = mine.search.backfill()
    assert report
    return report


def embedded(mine: Memory) -> Memory:
    """The same, its notes indexed and their vectors made."""
    filled(mine)
    return mine


def ask(of: Memory, query: str, **more: Any) -> Answer:
    request = Request(query, datetime(2025, 12, 1, 9, tzinfo=UTC), **more)
    (answer,) = of.answers([request], keep=False)
    return answer


def whys(answer: Answer) -> str:
    return " | ".join(f"{what}: {why}" for what, why in answer.degraded)


def passages(of: Memory) -> int:
    with opened(of) as store:
        return int(store.one("SELECT count(*) FROM passage"))


# --- the path from notes to answers ----------------------------------------------------------------------------------


def test_backfill_gives_every_passage_a_vector_and_recall_uses_them(vault: Path, server: ModelServer) -> None:
    mine = with_ollama(vault, server)
    done = filled(mine)
    assert done.stopped is None
    assert (done.done, done.waiting, done.passages) == (passages(mine), 0, passages(mine))
    assert all(text.startswith("search_document: ") for text in server.texts)
    server.requests.clear()
    answer = ask(mine, "engine of the boat")
    assert answer.embedder == "ollama/nomic-embed-text@1"
    assert not answer.degraded
    assert answer.results[0].content == "The boat engine was serviced by the harbour."
    assert server.texts == ["search_query: engine of the boat"]


def test_vectors_made_between_two_questions_are_used_by_the_second(vault: Path, server: ModelServer) -> None:
    mine = with_ollama(vault, server)
    mine.index()
    held = Memory(mine.config, index_file=HeldIndex(mine.config))
    held.search.remote = mine.search.remote
    assert ask(held, "engine of the boat").embedder == BUILTIN_ID
    mine.search.backfill()
    assert ask(held, "engine of the boat").embedder == "ollama/nomic-embed-text@1"
    held.close()


def test_a_passage_is_embedded_with_those_beside_it_in_its_section(vault: Path, server: ModelServer) -> None:
    embedded(with_ollama(vault, server))
    texts = {text.removeprefix("search_document: ") for text in server.texts}
    assert "a ladder for attics\nThe dentist found nothing.\npaint for doors" in texts
    assert "The tile index is kept on two nodes." in texts  # what stands under the next heading is not beside it
    assert "Tern" in texts  # a heading stands alone


# --- spaces are never mixed ------------------------------------------------------------------------------------------


def test_no_vector_is_compared_across_spaces_of_equal_dimensions(vault: Path) -> None:
    """The model has the builtin's dimensions, and its vectors say the opposite: a mixture would show."""
    with model_server(Model(dimensions=128)) as server:
        # Each text points to where its own words are, so the wrong space gives numbers that nobody would notice.
        mine = embedded(with_ollama(vault, server))
        remote, builtin = (ask(of, "engine of the boat", explain=True) for of in (mine, memory(vault)))
        expected = by_hand(mine, "ollama/nomic-embed-text@1", server, "engine of the boat")
        assert remote.embedder != builtin.embedder
        assert semantic(remote) == pytest.approx({k: v for k, v in expected.items() if k in semantic(remote)}, abs=2e-3)
        assert len(semantic(remote)) > 2
        assert semantic(remote) != pytest.approx(semantic(builtin), abs=0.05)


def semantic(answer: Answer) -> dict[str, float]:
    """The cosine that the ranking saw for each result."""
    lanes = {r.source: (r.why or {})["lanes"] for r in answer.results}
    return {source: lane["semantic"]["score"] for source, lane in lanes.items() if "semantic" in lane}


def by_hand(of: Memory, name: str, server: ModelServer, query: str) -> dict[str, float]:
    """The cosines that plain arithmetic gives, by citation, from the texts the model was to embed."""
    asked = bag(f"search_query: {query}", 128)
    found = {}
    with opened(of) as store:
        last = store.one("SELECT max(id) FROM passage")
        for passage, _, text in embedding_rows.passage_texts(store, 1, last):
            path, start, end = next(store.rows(
                "SELECT n.path, p.start_line, p.end_line FROM passage p JOIN note n ON n.id = p.note_id WHERE p.id = ?",
                passage,
            ))  # fmt: skip
            there = bag(f"search_document: {text}", 128)
            found[f"{path}#L{start}" + (f"-L{end}" if end > start else "")] = sum(
                a * b for a, b in zip(asked, there, strict=True)
            )
    return found


# --- nothing is embedded twice ---------------------------------------------------------------------------------------


def test_repeated_text_is_embedded_once(tmp_path: Path, server: ModelServer) -> None:
    same = "# Same\n\nThe very same words.\n"
    mine = with_ollama(fill(tmp_path, {"a.md": same, "b.md": same, "c.md": same}), server)
    done = filled(mine)
    assert (done.done, done.embedded) == (6, 2)
    assert len(server.texts) == len(set(server.texts)) == 2


def test_moved_and_edited_notes_keep_what_is_still_there(vault: Path, server: ModelServer) -> None:
    mine = embedded(with_ollama(vault, server))
    server.requests.clear()
    (vault / "Projects/Tern.md").rename(vault / "Tern.md")
    put(vault, "memory/2025-11-10.md", NOTES["memory/2025-11-10.md"] + "\n## Evening\n\nA heron by the weir.\n")
    answer = ask(mine, "tile index nodes")
    assert answer.results[0].path == "Tern.md"
    assert semantic(ask(mine, "tile index nodes", explain=True))["Tern.md#L3"] > 0.3
    assert filled(mine).waiting == 0
    assert sorted(server.texts)[:2] == ["search_document: A heron by the weir.", "search_document: Evening"]
    assert all(text.startswith("search_query") for text in sorted(server.texts)[2:])


def test_switching_and_switching_back_costs_nothing(vault: Path) -> None:
    with model_server(Model(), Model("all-minilm", 48)) as server:
        first, second = embedded(with_ollama(vault, server)), with_ollama(vault, server, embedding_model="all-minilm")
        generation = status(first)["index"]["generation"]
        second.index()
        assert second.index().rebuilt == ""
        second.search.backfill()
        assert ask(second, "boat engine").embedder == "ollama/all-minilm@1"
        put(vault, "new.md", "Words nobody has seen.\n")
        filled(second)
        server.requests.clear()
        done = filled(first)
        assert done.embedded == 1 and done.waiting == 0
        assert server.texts == ["search_document: Words nobody has seen."]
        assert generation < status(first)["index"]["generation"]


def test_a_rebuild_carries_the_vectors_over(vault: Path, server: ModelServer) -> None:
    mine = embedded(with_ollama(vault, server))
    server.requests.clear()
    assert mine.index(rebuild=True).rebuilt
    done = filled(mine)
    assert done.waiting == done.embedded == 0
    assert server.texts == []
    assert ask(mine, "boat engine").embedder == "ollama/nomic-embed-text@1"


def test_vectors_whose_text_is_gone_are_swept(vault: Path, server: ModelServer) -> None:
    mine = embedded(with_ollama(vault, server))
    put(vault, "memory/2025-11-12.md", "# Wednesday\n")
    mine.index()
    with opened(mine) as store:
        left = store.one("SELECT count(*) FROM embedding WHERE embedder = 2")
        codes = store.one("SELECT count(*) FROM embedding_code WHERE embedder = 2")
        assert left == codes == store.one("SELECT count(DISTINCT embedding_id) FROM placed")
    (vault / "Projects/Tern.md").unlink()
    mine.index()
    with opened(mine) as store:
        assert store.one("SELECT count(*) FROM placed WHERE passage_id NOT IN (SELECT id FROM passage)") == 0


# --- partly done, slow, gone -----------------------------------------------------------------------------------------


def test_a_server_that_dies_midway_loses_nothing_and_is_resumed(vault: Path, server: ModelServer) -> None:
    mine = with_ollama(vault, server, embedding_batch=2)
    mine.index()
    server.trouble.dies_after = 3
    done = filled(mine)
    assert done.done == done.embedded == 4
    assert done.stopped and "127.0.0.1" in done.stopped
    kept = list(dict.fromkeys(server.texts))[:4]
    server.trouble.dies_after = -1
    server.requests.clear()
    assert filled(mine).waiting == 0
    assert not set(kept) & set(server.texts)


def test_below_enough_the_builtin_vectors_answer_and_say_so(vault: Path, server: ModelServer) -> None:
    mine = with_ollama(vault, server, embedding_batch=2)
    mine.index()
    server.trouble.dies_after = 2  # the model is recognised by the first answer
    mine.search.backfill()
    server.trouble.dies_after = -1
    answer = ask(mine, "boat engine")
    assert answer.embedder == BUILTIN_ID
    assert f"has vectors for 2 of {passages(mine)} passages; used the builtin vectors" in whys(answer)
    # The question was not even sent: two answers, four tries of the next batch.
    assert server.asked("/api/embed") == 2 + 4


def test_a_slow_server_costs_the_deadline_once_for_a_whole_batch(vault: Path, server: ModelServer) -> None:
    mine = embedded(with_ollama(vault, server, embedding_query_deadline_seconds=0.05))
    server.requests.clear()
    server.trouble.delay_seconds = 0.4
    requests = [Request(f"boat engine {n}", datetime(2025, 12, 1, tzinfo=UTC)) for n in range(5)]
    answers = list(mine.answers(requests, keep=False))
    assert {a.embedder for a in answers} == {BUILTIN_ID}
    where = f"semantic: ollama at {server.host} did not answer in 0.05 s; used the builtin vectors"
    assert [whys(a) for a in answers] == [where] * 5
    assert server.asked("/api/embed") <= 1
    time.sleep(0.5)  # let the server finish with who has gone


def test_a_server_that_is_gone_leaves_the_builtin_vectors(vault: Path, server: ModelServer) -> None:
    embedded(with_ollama(vault, server))
    gone = with_ollama(vault, ModelServer(port=free_port()))
    answer = ask(gone, "boat engine")
    assert answer.embedder == BUILTIN_ID
    assert answer.results[0].content == "The boat engine was serviced by the harbour."
    assert "cannot be reached; used the builtin vectors" in whys(answer)


def test_a_model_of_another_dimension_is_refused(vault: Path, server: ModelServer) -> None:
    mine = embedded(with_ollama(vault, server))
    server.models = [Model(dimensions=64)]
    put(vault, "new.md", "Something new.\n")
    done = filled(mine)
    assert done.stopped and "gives 64 dimensions, and the index has 96" in done.stopped
    answer = ask(mine, "boat engine")
    assert answer.embedder == BUILTIN_ID
    checks = {c.name: c for c in doctor(mine)}
    assert checks["model"].level == "error"
    doctor(mine, fix=True)
    assert filled(mine).waiting == 0
    assert ask(mine, "boat engine").embedder == "ollama/nomic-embed-text@1"


def test_long_texts_are_cut_and_counted_never_by_the_server(tmp_path: Path) -> None:
    with model_server(Model(context_tokens=20)) as server:
        root = fill(tmp_path, {"long.md": "word " * 60 + "\n", "short.md": "a few words\n"})
        mine = with_ollama(root, server)
        done = filled(mine)
        assert done.stopped is None and done.waiting == 0 and done.cut == 1
        bodies = [body for path, body, _ in server.requests if path == "/api/embed"]
        assert all(body["truncate"] is False for body in bodies)


# --- the command line ------------------------------------------------------------------------------------------------


def shell(root: Path, server_port: int, *arguments: str, **more: str) -> Said:
    """Run `memory` for a user who has set Ollama up."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "MEMORY_EMBEDDING_PROVIDER": "ollama", "OLLAMA_HOST": f"127.0.0.1:{server_port}", **more,
        }.items():  # fmt: skip
            patch.setenv(name, value)
        return call("--vault", str(root), *arguments)


def test_the_command_line_from_index_to_answer(vault: Path, server: ModelServer) -> None:
    done = shell(vault, server.port, "index")
    assert done.code == 0, done.err
    assert "ollama/nomic-embed-text@1: 11 of 11 passages (11 embedded)" in done.out
    assert done.err == ""
    patient = {"MEMORY_EMBEDDING_QUERY_DEADLINE_SECONDS": "30"}
    document = json.loads(shell(vault, server.port, "recall", "--json", "engine of the boat", **patient).out)
    assert (document["embedder"], document["degraded"]) == ("ollama/nomic-embed-text@1", [])
    state = json.loads(shell(vault, server.port, "status", "--json").out)["index"]
    assert state["embedders"][1]["id"] == "ollama/nomic-embed-text@1"
    assert state["embedders"][1]["passages"] == state["passages"] == 11
    assert "ollama/nomic-embed-text@1, reads 2,048 tokens" in shell(vault, server.port, "doctor").out


def test_index_with_a_dead_server_ends_well_and_says_what_waits(vault: Path) -> None:
    port = free_port()
    done = shell(vault, port, "index")
    assert done.code == 0
    assert f"ollama at 127.0.0.1:{port} cannot be reached: 11 passages still to embed." in done.out
    assert "ollama serve" in done.out
    quiet = shell(vault, port, "index", "--quiet")
    assert quiet.out == "" and "11 passages still to embed" in quiet.err
    document = json.loads(shell(vault, port, "index", "--json").out)
    assert document["backfill"]["waiting"] == 11
    doctor = shell(vault, port, "doctor")
    assert doctor.code == 0
    assert "cannot be reached" in doctor.out


def test_an_openai_server_with_a_key_that_is_never_shown(vault: Path) -> None:
    with model_server(Model("bge-m3")) as server:
        server.key = "sk-very-secret-1234"
        settings = {
            "MEMORY_EMBEDDING_PROVIDER": "openai", "MEMORY_EMBEDDING_MODEL": "bge-m3",
            "MEMORY_EMBEDDING_URL": f"http://{server.host}/v1", "MEMORY_EMBEDDING_KEY_ENV": "MY_KEY",
        }  # fmt: skip
        unset = shell(vault, server.port, "index", **settings)
        assert unset.code == 0
        assert "$MY_KEY" in unset.out and "is not set" in unset.out
        wrong = shell(vault, server.port, "index", **settings, MY_KEY="sk-not-this-5678")
        assert "refuses the key" in wrong.out
        done = shell(vault, server.port, "index", **settings, MY_KEY=server.key)
        assert "openai/bge-m3@1: 11 of 11 passages" in done.out
        doctor = shell(vault, server.port, "doctor", "-v", **settings, MY_KEY=server.key)
        assert "key in $MY_KEY" in doctor.out
        said = "".join(r.out + r.err for r in (unset, wrong, done, doctor))
        assert "sk-" not in said
        files = b"".join(f.read_bytes() for f in (vault / ".memory").rglob("*") if f.is_file())
        assert server.key.encode() not in files


def test_ctrl_c_keeps_what_was_embedded(tmp_path: Path, server: ModelServer) -> None:
    import signal

    root = fill(tmp_path, {"many.md": "".join(f"- item {n} of the list\n" for n in range(60))})
    server.trouble.delay_seconds = 0.1
    settings = {"MEMORY_EMBEDDING_PROVIDER": "ollama", "OLLAMA_HOST": server.host, "MEMORY_EMBEDDING_BATCH": "2"}
    # What runs in a shell's background has the signal ignored, and would hand that on to what it starts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        command(root, "index"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | settings
    )
    signal.signal(signal.SIGINT, before)
    with process:
        while server.asked("/api/embed") < 4 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err
    server.trouble.delay_seconds = 0.0
    mine = with_ollama(root, server)
    with opened(mine) as store:
        assert 0 < store.one("SELECT count(*) FROM placed") < 60
    done = filled(mine)
    assert done.waiting == 0 and done.embedded < 60


def test_a_vault_cannot_name_a_server(vault: Path, server: ModelServer) -> None:
    put(vault, ".memory/config.toml", f'[embedding]\nprovider = "ollama"\nurl = "http://{server.host}"\n')
    assert call("--vault", str(vault), "index").code == 0
    assert server.requests == []
    assert "`embedding.url` is ignored" in call("--vault", str(vault), "doctor").out


def test_a_write_by_others_between_reading_and_keeping_places_nothing_wrong(vault: Path, server: ModelServer) -> None:
    """The notes change while the server works on them: its vectors must not land on whatever has those rows now."""
    mine = with_ollama(vault, server, embedding_batch=32)
    mine.index()

    def meanwhile(_: object, found: list[list[float]]) -> list[list[float]]:
        server.trouble.vectors = None
        put(vault, "AAA.md", "Something else first.\n")
        memory(vault).index(rebuild=True)
        return found

    server.trouble.vectors = meanwhile
    mine.search.backfill()
    mine.search.backfill()
    with opened(mine) as store:
        for passage, key, _ in embedding_rows.passage_texts(store, 1, store.one("SELECT max(id) FROM passage")):
            sql = "SELECT e.text_hash FROM placed d JOIN embedding e ON e.id = d.embedding_id WHERE d.passage_id = ?"
            assert store.one(sql, passage) == key


# --- another model under the same name -------------------------------------------------------------------------------


def test_another_model_is_noticed_by_questions_and_when_vectors_are_made(vault: Path, server: ModelServer) -> None:
    """The vectors of a pulled version would be compared with those of the old one, and nothing would say so."""
    embedded(with_ollama(vault, server))
    server.trouble.vectors = lambda _, found: [v[::-1] for v in found]
    answer = ask(with_ollama(vault, server), "boat engine")
    assert answer.embedder == BUILTIN_ID
    assert "the model has changed" in whys(answer) and "used the builtin vectors" in whys(answer)
    put(vault, "later.md", "Something new.\n")
    done = filled(with_ollama(vault, server))
    assert done.stopped and "the model has changed" in done.stopped
    server.trouble.vectors = None
    assert with_ollama(vault, server).search.backfill()
    assert ask(with_ollama(vault, server), "boat engine").embedder == "ollama/nomic-embed-text@1"


@pytest.mark.parametrize("bad", [0.0, float("nan")])
def test_doctor_sees_a_model_that_gives_nothing_usable(vault: Path, server: ModelServer, bad: float) -> None:
    server.trouble.vectors = lambda _, found: [[bad] * len(v) for v in found]
    before = {c.name: c for c in doctor(with_ollama(vault, server))}["model"]
    with_ollama(vault, server).index()
    after = {c.name: c for c in doctor(with_ollama(vault, server))}["model"]
    for check in (before, after):
        assert check.level == "warning" and "gives no usable vectors" in check.message and check.fix


# --- servers with limits of their own --------------------------------------------------------------------------------


def with_openai(root: Path, server: ModelServer, **settings: object) -> Memory:
    usual = {"embedding_batch": 32, "embedding_query_deadline_seconds": 30.0, "embedding_model": "nomic-embed-text"}
    url = f"http://{server.host}/v1"
    return memory(root, embedding_provider="openai", embedding_url=url, **{**usual, **settings})


def herons(tmp_path: Path) -> Path:
    """40 short notes and one of 150 words."""
    notes = {f"n{i}.md": f"The heron number {i} stands by the weir in village {i * 7}.\n" for i in range(40)}
    return fill(tmp_path / "Notes", {**notes, "long.md": "The heron waits. " * 50 + "\n"})


TOO_MANY = [
    (422, {"error": "batch size 32 > maximum allowed batch size 8", "error_type": "Validation"}),
    (400, {"error": {"message": "Requested 310000 tokens, max 300000 tokens per request"}}),
]


@pytest.mark.parametrize(("status", "said"), TOO_MANY)
def test_a_batch_the_server_finds_too_large_is_halved_and_stays_so(
    tmp_path: Path, server: ModelServer, status: int, said: dict[str, Any]
) -> None:
    server.trouble.refuses = lambda texts: (status, said) if len(texts) > 8 else None
    mine = with_openai(herons(tmp_path), server)
    done = filled(mine)
    assert done.stopped is None
    assert (done.waiting, done.unusable, done.cut) == (0, 0, 0)
    refused = [len(body["input"]) for path, body, _ in server.requests if len(body.get("input", [])) > 8]
    assert refused == [32, 16, 16]  # the first batch in its halves; the batches after it are small from the start
    assert ask(mine, "heron").embedder == "openai/nomic-embed-text@1"


def test_a_text_the_server_finds_too_large_is_cut_and_the_others_stay_together(
    tmp_path: Path, server: ModelServer
) -> None:
    said = {"error": "Input validation error: `inputs` must have less than 512 tokens. Given: 771"}
    server.trouble.refuses = lambda texts: (413, said) if any(len(t.split()) > 70 for t in texts) else None
    mine = with_openai(herons(tmp_path), server)
    done = filled(mine)
    assert done.stopped is None
    assert (done.waiting, done.cut, done.unusable) == (0, 3, 0)  # the long line is three passages
    assert mine.search.remote and mine.search.remote.batch == 32


# --- texts without a vector ------------------------------------------------------------------------------------------


def no_vector_for(word: str) -> Any:
    """The right vectors, but zeros for texts with that word."""
    return lambda texts, found: [[0.0] * len(v) if word in t else v for t, v in zip(texts, found, strict=True)]


def test_texts_without_a_vector_are_not_asked_for_again(vault: Path, server: ModelServer) -> None:
    server.trouble.vectors = no_vector_for("dentist")
    mine = embedded(with_ollama(vault, server))
    server.requests.clear()
    put(vault, "memory/2025-11-12.md", NOTES["memory/2025-11-12.md"] + "\n## Evening\n\nA heron.\n")
    mine.index()
    done = filled(mine)
    assert (done.waiting, done.unusable, done.without, done.stopped) == (0, 0, 2, None)
    assert sorted(server.texts) == ["search_document: A heron.", "search_document: Evening"]
    server.requests.clear()
    server.trouble.vectors = None
    assert mine.index(rebuild=True).rebuilt  # asks again
    done = filled(mine)
    assert (done.waiting, done.without, done.embedded) == (0, 0, 2)
    assert all("dentist" in text for text in server.texts)


def test_texts_without_a_vector_keep_no_other_from_being_used(vault: Path, server: ModelServer) -> None:
    server.trouble.vectors = no_vector_for("dentist")
    mine = embedded(with_ollama(vault, server))
    answer = ask(mine, "engine of the boat")
    assert answer.embedder == "ollama/nomic-embed-text@1"  # 9 of 11 passages: below the share that decides
    assert whys(answer) == (
        "semantic: ollama/nomic-embed-text@1 has no usable vector for 2 of 11 passages: they are found by words only"
    )
    assert ask(mine, "dentist", explain=True).results[0].content == "The dentist found nothing."
    state = next(e for e in status(mine)["index"]["embedders"] if e["id"] == "ollama/nomic-embed-text@1")
    assert (state["passages"], state["without"]) == (9, 2)
    check = next(c for c in doctor(mine) if c.name == "vectors")
    assert "no usable vector for 2 of 11 passages" in check.message and "--rebuild" in check.fix
    assert "for 9 of 11 passages, 2 without one" in shell(vault, server.port, "status").out


# --- what is said ----------------------------------------------------------------------------------------------------


def test_a_second_run_beside_one_that_embeds_says_so(tmp_path: Path, server: ModelServer) -> None:
    root = fill(tmp_path / "Notes", {"many.md": "".join(f"- item {n} of the list\n" for n in range(60))})
    mine = embedded(with_ollama(root, server))
    put(root, "new.md", "A heron by the weir.\n")
    with writer_lock(mine.index_file.path.with_name("backfill"), 1.0):
        done = shell(root, server.port, "index")
        document = json.loads(shell(root, server.port, "index", "--json").out)["backfill"]
        quiet = shell(root, server.port, "index", "--quiet")
    assert done.code == 0, done.err
    assert "ollama/nomic-embed-text@1: 60 of 61 passages (0 embedded)\n" in done.out
    assert "Another `memory index` is embedding already: 1 passage still to embed.\n" in done.out
    assert "run `memory index` again" in done.out and "Then run" not in done.out
    assert (document["done"], document["waiting"], document["stopped"]) == (
        60, 1, "Another `memory index` is embedding already",
    )  # fmt: skip
    assert quiet.out == "" and "is embedding already" in quiet.err
