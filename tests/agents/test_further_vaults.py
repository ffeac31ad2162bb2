"""Further vaults beside the vault: asked together, cited so that they open, and never more than their scope allows."""

import os
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from vaults import fill, snapshot

from vault_memory.config import Config, load
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.federation import Federation
from vault_memory.rendering.recall import recall_document
from vault_memory.search.recall_options import build
from vault_memory.sessions import projects


@pytest.fixture
def config(tmp_path: Path) -> Config:
    vault = fill(tmp_path / "Notes", {"a.md": "- The heron lives by the lake.\n"})
    work = fill(
        tmp_path / "Work", {"b.md": "- The heron project ships in May.\n", "c.md": "---\nscope: agent:x\n---\nheron\n"}
    )
    (tmp_path / "src" / "birds" / ".git").mkdir(parents=True)
    fill(tmp_path / "src" / "birds" / ".claude" / "memory", {"MEMORY.md": "- Heron tests need a database.\n"})
    fill(tmp_path / "src" / "plain" / ".claude" / "memory", {"MEMORY.md": "- Heron without a repository.\n"})
    return Config(vault=vault, roots=((work, "project:work"),), roots_under=(tmp_path / "src",))


def asked(config: Config, **options: object) -> dict:
    (answer,) = Federation(config).answers([build({"query": "heron", **options}, config)])
    return recall_document(answer)


def test_all_are_asked_and_what_they_say_can_be_opened(config: Config, tmp_path: Path) -> None:
    before = snapshot(tmp_path / "src"), snapshot(tmp_path / "Work")
    found = asked(config)
    assert {r["path"] for r in found["results"]} == {
        "a.md", "roots/work/b.md", "roots/work/c.md", "roots/birds/MEMORY.md", "roots/plain/MEMORY.md",
    }  # fmt: skip
    assert [r["name"] for r in found["roots"]] == ["notes", "work", "birds", "plain"]
    for result in found["results"]:
        excerpt = Federation(config).get(result["path"], (result["start_line"], result["end_line"]))
        assert excerpt.text == result["content"]
        assert bool(result["uri"]) == (result["path"] == "a.md") and result.get("root", "") == (
            result["path"].split("/")[1] if "/" in result["path"] else ""
        )
    assert (snapshot(tmp_path / "src"), snapshot(tmp_path / "Work")) == before
    assert not list(tmp_path.glob("src/**/.memory")) and not (tmp_path / "Work" / ".memory").exists()


def test_a_root_has_its_scope(config: Config) -> None:
    def seen(*scopes: str) -> set[str]:
        return {r["path"] for r in asked(config, scope=list(scopes))["results"]}

    assert seen("global") == {"a.md"}
    assert seen("global", "project:work") == {"a.md", "roots/work/b.md"}
    assert seen("project:birds") == {"roots/birds/MEMORY.md"}
    assert seen("global", "project:plain") == {"a.md", "roots/plain/MEMORY.md"}
    assert seen("agent:x") == set()
    assert seen("project:work", "agent:x") == {"roots/work/b.md", "roots/work/c.md"}


def test_two_projects_of_one_name_do_not_share_their_memory(tmp_path: Path) -> None:
    for client in ("a", "b"):
        (tmp_path / client / "api/.git").mkdir(parents=True)
        fill(tmp_path / client / "api/.claude/memory", {"MEMORY.md": f"- The heron of client {client}.\n"})
        fill(tmp_path / client / "plain/.claude/memory", {"MEMORY.md": f"- The plain heron of client {client}.\n"})
    vault = fill(tmp_path / "Notes", {"a.md": "No bird.\n"})
    config = Config(vault=vault, roots_under=(tmp_path / "a", tmp_path / "b"))
    asked(replace(config, roots_under=(tmp_path / "a",)))  # the first one seen has the name
    for client, root in (("a", "api"), ("b", "api-2")):
        opened = projects.open_scopes(projects.Asker(folder=tmp_path / client / "api"), config, os.environ)
        assert {r["path"] for r in asked(config, scope=list(opened))["results"]} == {"a.md", f"roots/{root}/MEMORY.md"}
    found = asked(config, scope=["project:plain"])["results"]
    assert {r["path"] for r in found} == {"roots/plain/MEMORY.md"}


SCOPES = ["global", "project:a", "project:b", "agent:x"]


def test_a_note_is_seen_only_where_the_roots_scope_and_its_own_are_open(tmp_path: Path) -> None:
    """No note of a further vault says of itself that more may see it than the settings say of that vault."""
    said = {"none.md": "The heron is here.\n"} | {
        f"{number}.md": f"---\nscope: {own}\n---\nThe heron is here.\n" for number, own in enumerate(SCOPES)
    }
    roots = tuple((fill(tmp_path / f"r{number}", said), scope) for number, scope in enumerate(SCOPES))
    config = Config(vault=fill(tmp_path / "v", {"a.md": "No bird.\n"}), roots=roots)
    needed = {
        f"roots/r{at}/{name}": {scope, scope if name == "none.md" else SCOPES[int(name[0])]}
        for at, scope in enumerate(SCOPES)
        for name in said
    }
    for size in range(1, len(SCOPES) + 1):
        for opened in combinations(SCOPES, size):
            found = asked(config, scope=list(opened), k=100)
            seen = {path for path, scopes in needed.items() if scopes <= {*opened}}
            hidden = needed.keys() - seen
            assert not hidden & {result["path"] for result in found["results"]}
            assert sum(root["notes"] for root in found["roots"][1:]) == len(seen)
            for path in (min(seen, default=""), min(hidden, default="")):
                excerpt = Federation(config).get(path, scopes=opened) if path else None
                assert excerpt is None or excerpt.not_found == (path in hidden)


def test_one_that_is_gone_takes_nothing_from_the_others(config: Config, tmp_path: Path) -> None:
    (tmp_path / "Work").rename(tmp_path / "Away")
    found = asked(config)
    assert "a.md" in {r["path"] for r in found["results"]}
    assert any("Work" in d["why"] for d in found["degraded"])
    names = dict(Federation(config).refresh_further_vaults())
    assert isinstance(names["work"], VaultMemoryError) and not isinstance(names["birds"], VaultMemoryError)


def test_a_shut_root_might_as_well_not_be_there(config: Config, tmp_path: Path) -> None:
    """Whether its folder is there or gone: in recall and where a note of it is asked for by name."""
    fill(config.vault, {"c.md": "# A table\n\nThe lake has a ferry.\n"})
    clock = {"seconds": 0, "now": ""}
    alone = replace(config, roots=(), roots_under=())
    gone = (tmp_path / "gone" / ".claude" / "memory", "project:gone")
    for shut in (replace(config, roots=(gone, (tmp_path / "Work", "project:work"))), replace(config, roots=(gone,))):
        for query in ("heron", "ferry", "unheard-of words"):
            found, expected = (asked(one, query=query, scope=["global"]) for one in (shut, alone))
            assert {**found, **clock} == {**expected, **clock}
        for path in ("roots/gone/x.md", "roots/work/b.md"):
            excerpt = Federation(shut).get(path, scopes=("global",))
            assert excerpt == Federation(alone).get(path, scopes=("global",))
    assert any("gone" in problem["why"] for problem in asked(shut)["degraded"])
    with pytest.raises(VaultMemoryError):
        Federation(shut).get("roots/gone/x.md", scopes=("project:gone",))


def test_get_leads_out_of_no_root(config: Config) -> None:
    with pytest.raises(VaultMemoryError):
        Federation(config).get("roots/work/../../device")
    assert Federation(config).get("roots/nobody/b.md").not_found
    fill(config.vault, {"roots/work/b.md": "the vault's own\n"})
    assert Federation(config).get("roots/work/b.md").text == "the vault's own"


def test_settings(tmp_path: Path) -> None:
    vault = fill(tmp_path / "V", {"a.md": "x\n", ".memory/config.toml": '[roots]\nvaults = ["/etc"]\n'})
    home = tmp_path / "config" / "vault-memory"
    home.mkdir(parents=True)
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert load(str(vault), environ).roots == () and "roots.vaults" in load(str(vault), environ).ignored[0]
    (home / "config.toml").write_text(
        '[roots]\nvaults = ["~/w", {path = "/x", scope = "project:x"}]\nunder = ["~/src"]\n'
        '[sessions]\ntools = ["opencode"]\nopencode = "~/oc"\n'
    )
    read = load(str(vault), environ)
    assert read.roots == ((Path(os.path.expanduser("~/w")), ""), (Path("/x"), "project:x"))
    assert read.sessions_tools == ("opencode",)
    (home / "config.toml").write_text('[roots]\nvaults = [{scope = "x"}]\nunder = [1]\n[sessions]\ntools = ["vim"]\n')
    with pytest.raises(UsageError, match="3 settings cannot be used"):
        load(str(vault), environ)
