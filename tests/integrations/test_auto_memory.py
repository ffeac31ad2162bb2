"""Claude Code's own notes in the vault: the setting goes in and out, notes are copied, and none counts as evidence."""

import json
import tomllib
from pathlib import Path

import pytest
from test_install import Home
from vaults import fill, memory

from vault_memory.markdown import scopes

LOCAL = "project/.claude/settings.local.json"
INSTALL = ("install", "claude-code", "--scope", "project", "--auto-memory")
UNINSTALL = ("uninstall", "claude-code", "--scope", "project")
NOTE = "- [Release day](release.md)\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def own_notes(home: Home) -> str:
    """Where Claude Code keeps its notes of the project by itself, below the home folder."""
    return f".claude/projects/{''.join(c if c.isalnum() else '-' for c in str(home.project.resolve()))}/memory"


@pytest.mark.parametrize(
    "before",
    [None, b"{}", b'{\n  "permissions": {"allow": ["Bash"]}\n}\n', b'{"autoMemoryDirectory" : "~/elsewhere", "a":1}\n',
     b'\xef\xbb\xbf{\r\n\t"autoMemoryDirectory": null\r\n}'],
)  # fmt: skip
@pytest.mark.parametrize("is_edited", [False, True])
def test_the_setting_goes_in_and_comes_back_byte_for_byte(home: Home, before: bytes | None, is_edited: bool) -> None:
    file = home.folder / LOCAL
    if before is not None:
        home.put(LOCAL, before)
    files = home.files()
    home.done(*INSTALL)
    folder = home.vault / "agents/claude-code/project"
    assert json.loads(file.read_bytes().decode("utf-8-sig"))["autoMemoryDirectory"] == str(folder)
    assert home.done(*INSTALL) == "Nothing to do.\n"
    if is_edited and before:
        file.write_bytes(file.read_bytes() + b"\n")
    told = home.run(*UNINSTALL)
    assert f"Claude Code no longer uses the vault {home.vault}." in told.err
    assert home.files() == files | ({str(file): before + b"\n" * is_edited} if before else {})


def test_another_vault_takes_the_place_and_the_first_text_comes_back(home: Home) -> None:
    file = home.put(LOCAL, b'{"autoMemoryDirectory": "/mine"}')
    home.done(*INSTALL)
    other = fill(home.folder / "other", {"b.md": "# B\n"})
    assert f"now uses {other} instead of the vault {home.vault}." in home.run(*INSTALL, vault=other).err
    assert json.loads(file.read_bytes())["autoMemoryDirectory"] == str(other / "agents/claude-code/project")
    home.done(*UNINSTALL)
    assert file.read_bytes() == b'{"autoMemoryDirectory": "/mine"}'


def test_without_the_option_a_setting_of_the_user_is_left_alone(home: Home) -> None:
    home.put(LOCAL, b'{"autoMemoryDirectory": "/mine"}')
    home.done("install", "claude-code", "--scope", "project")
    ended = home.run(*UNINSTALL)
    assert ended.code == 0 and "autoMemoryDirectory" not in ended.err
    assert (home.folder / LOCAL).read_bytes() == b'{"autoMemoryDirectory": "/mine"}'


@pytest.mark.parametrize(
    ("words", "advice"),
    [(("install", "claude-code", "--auto-memory"), "Add --scope project"),
     (("install", "opencode", "--scope", "project", "--auto-memory"), "Leave it out."), (INSTALL, "`[projects]`")],
)  # fmt: skip
def test_it_is_for_a_project_of_claude_code_alone(home: Home, words: tuple[str, ...], advice: str) -> None:
    if words == INSTALL:
        (home.project / ".git").rmdir()
    before = home.files()
    ended = home.run(*words)
    assert (ended.code, advice in ended.err, home.files()) == (2, True, before)


def test_no_link_leads_the_notes_out_of_the_vault(home: Home) -> None:
    (home.folder / "elsewhere").mkdir()
    (home.vault / "agents").symlink_to("../elsewhere")
    ended = home.run(*INSTALL)
    assert (ended.code, "leads out of the vault by a link" in ended.err) == (6, True)
    assert not (home.folder / LOCAL).exists() and not any((home.folder / "elsewhere").iterdir())


def test_notes_that_are_there_already_are_copied_and_none_is_overwritten(home: Home) -> None:
    source = own_notes(home)
    home.put(f"{source}/MEMORY.md", NOTE.encode())
    home.put(f"{source}/topics/release.md", b"Tuesdays only.\n")
    home.put(f"{source}/state.json", b"{}")
    home.put(f"{source}/transcript.md", b"long\n" * 300_000)
    (home.folder / source / "link.md").symlink_to(home.vault / "a.md")
    there = fill(home.vault, {"agents/claude-code/project/MEMORY.md": "mine\n"}) / "agents/claude-code/project"
    before = home.files()
    shown = home.done(*INSTALL, "--dry-run")
    assert f"+++ {there}/topics/release.md" in shown and "+Tuesdays only." in shown and home.files() == before
    home.done(*INSTALL)
    assert sorted(str(file.relative_to(there)) for file in there.rglob("*.md")) == ["MEMORY.md", "topics/release.md"]
    assert (there / "MEMORY.md").read_text() == "mine\n"
    home.done(*UNINSTALL)  # the notes are the vault's now
    assert (there / "topics/release.md").read_text() == "Tuesdays only.\n"
    assert (home.folder / source / "MEMORY.md").read_text() == NOTE


# --- what such notes count as ----------------------------------------------------------------------------------------

TOLD = {
    "memory.md": "# Memory\n",
    "memory/2025-11-27.md": "## Retain\n- W @Tern: Tern is built in Go.\n",
    "agents/claude-code/tern/release.md": (
        "---\nname: release\ndescription: When releases go out\nby: person\n---\n# Release day\n\n"
        "Tern goes out on Tuesdays, says [[Wilhelmina]].\n\n"
        "## Retain\n- W(by=person) @Wilhelmina: Decides on Tuesday releases.\n- O(c=0.9) @Tern: Tuesdays are best.\n"
    ),
    "agents/claude-code/tern/2025-11-28.md": (
        "User: When do we release?\nWilhelmina: I decided on Tuesday.\nUser: Always?\nWilhelmina: Always, yes.\n"
        "User: Fine.\nWilhelmina: Remember that I own the releases of Tern.\n"
    ),
}


def test_they_are_found_in_their_project_and_signed_by_the_agent(tmp_path: Path) -> None:
    noted = memory(fill(tmp_path / "Notes", TOLD))
    noted.index()
    found = noted.recall("on which day does Tern go out?", scopes=("global", "project:tern"))
    (first,) = (one for one in found.results if one.path.endswith("release.md") and "Tuesdays, says" in one.content)
    assert (first.by, first.kind) == ("agent:claude-code", "note")
    other = noted.recall("on which day does Tern go out?", scopes=("global", "project:other"))
    assert not [one for one in other.results if one.path.startswith("agents/")]


def test_they_are_no_evidence_and_no_source(tmp_path: Path) -> None:
    vault = fill(tmp_path / "Notes", TOLD)
    # Even in the open: a page holds no private fact anyway.
    noted = memory(vault, reflect_entity_days=1, folder_scopes=(("agents/claude-code/tern", "global"),))
    noted.index()
    noted.reflect(now="2025-12-02")
    captured = noted.capture(dry_run=True)
    assert not [item for item in captured.items if item.source.startswith("agents/")]
    pages = [file for file in vault.rglob("*.md") if "agents" not in file.parts]
    assert not [file for file in pages if "Wilhelmina" in file.read_text() or "Tuesday" in file.read_text()]
    assert any("built in Go" in file.read_text() for file in (vault / "bank").rglob("*.md"))


@pytest.mark.parametrize(
    ("folders", "scope"),
    [
        ((), "project:tern"), ((("", "global"),), "project:tern"), ((("agents", "user:ada"),), "user:ada"),
        ((("agents/claude-code/tern", "global"),), "global"), ((("agents", "global"),), "project:tern"),
    ],
)  # fmt: skip
def test_what_the_user_closed_stays_closed(folders: tuple[tuple[str, str], ...], scope: str) -> None:
    assert scopes.folder_scope("Agents/claude-code/Tern/MEMORY.md", folders) == scope
    assert scopes.folder_scope("agents/claude-code/tern.md", ()) == "global"
    assert scopes.folder_scope("agents/moss/tern/MEMORY.md", ()) == "global"


# --- whether sessions are kept ---------------------------------------------------------------------------------------


def test_off_a_terminal_the_option_alone_decides(home: Home) -> None:
    config = home.put(".config/vault-memory/config.toml", b"# mine\n[recall]\nk = 3\n")
    assert "30 days" not in home.run("install", "claude-code").err
    assert config.read_bytes() == b"# mine\n[recall]\nk = 3\n"
    shown = home.done("install", "claude-code", "--sessions", "--dry-run")
    assert '+tools = ["claude-code"]' in shown and config.read_bytes() == b"# mine\n[recall]\nk = 3\n"
    ended = home.run("install", "claude-code", "--sessions")
    assert ended.code == 0 and "deletes the transcripts of its sessions after 30 days" in ended.err
    vault = json.dumps(str(home.vault), ensure_ascii=False).encode()  # into which they are captured, and no other
    wanted = b'# mine\n[recall]\nk = 3\n\n[sessions]\ntools = ["claude-code"]\n\n[capture]\nvault = ' + vault + b"\n"
    assert config.read_bytes() == wanted
    home.done("install", "opencode", "--sessions")
    assert config.read_bytes() == wanted.replace(b'["claude', b'["opencode", "claude')
    home.done("install", "claude-code", "--no-sessions")
    assert b'"claude-code"]' in config.read_bytes()  # the user's own settings are only added to


def test_an_agent_without_transcripts_has_no_sessions_to_keep(home: Home) -> None:
    ended = home.run("install", "cursor", "--sessions")
    assert (ended.code, "Leave out --sessions." in ended.err) == (2, True)
    assert not (home.folder / ".cursor").exists()


MINE = "# mine\n[recall]\nk = 3\n"


@pytest.mark.parametrize(
    "before",
    [None, "", MINE, f'{MINE}[sessions]\ntools = ["openclaw"]\n', "[capture]\npreset = 'balanced'\n"],
)
@pytest.mark.parametrize("order", [("claude-code", "opencode"), ("opencode", "claude-code")])
@pytest.mark.parametrize("is_edited", [False, True])
def test_uninstall_gives_back_what_install_put_into_your_settings(
    home: Home, before: str | None, order: tuple[str, str], is_edited: bool
) -> None:
    file = home.folder / ".config/vault-memory/config.toml"
    if before is not None:
        home.put(".config/vault-memory/config.toml", before.encode())
    home.done("install", "claude-code", "--sessions")
    home.done("install", "opencode", "--sessions")
    if is_edited:
        file.write_text(file.read_text() + "# mine too\n")
    assert str(file) in home.done("uninstall", order[0], "--dry-run")
    home.done("uninstall", order[0])
    left = tomllib.loads(file.read_text())
    assert order[1] in left["sessions"]["tools"] and order[0] not in left["sessions"]["tools"]
    assert "vault" in left["capture"]
    home.done("uninstall", order[1])
    assert not [one for one in home.records() if b"config.toml" in one.read_bytes()]
    if is_edited:
        assert order[1] not in file.read_text() and "# mine too" in file.read_text()
    else:
        assert (file.read_text() if file.exists() else None) == before


def test_uninstall_takes_out_the_agent_alone_where_you_changed_the_file(home: Home) -> None:
    home.done("install", "claude-code", "--sessions")
    file = home.folder / ".config/vault-memory/config.toml"
    file.write_text(file.read_text().replace("[sessions]\n", "[sessions]\nlog = true\n") + "[recall]\nk = 3\n")
    home.done("uninstall", "claude-code")
    left = {"sessions": {"log": True, "tools": []}, "capture": {"vault": str(home.vault)}, "recall": {"k": 3}}
    assert tomllib.loads(file.read_text()) == left


def test_uninstall_leaves_a_comment_on_an_agent_that_you_took_out_yourself(home: Home) -> None:
    home.done("install", "claude-code", "--sessions")
    file = home.folder / ".config/vault-memory/config.toml"
    file.write_text(text := file.read_text().replace('["claude-code"]', '[]  # "claude-code", once'))
    home.done("uninstall", "claude-code")
    assert file.read_text() == text


def test_another_vault_than_the_one_that_captures_is_told_of(home: Home, tmp_path: Path) -> None:
    home.done("install", "claude-code", "--sessions")
    other = fill(tmp_path / "other", {"a.md": "# A\n"})
    told = f"Sessions are captured into {home.vault}, not into this vault"
    assert told in home.run("install", "claude-code", vault=other).err
    assert told not in home.run("install", "claude-code").err
