"""Agents' settings: our hooks and server go in, everything else stays, and an uninstall gives the old bytes back."""

import json
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample import Said, call
from test_json_text import texts
from vaults import fill

from vault_memory.errors import ConflictError, RefusedError
from vault_memory.integrations import settings_paths
from vault_memory.integrations.install import Installer, replace_file
from vault_memory.vault import safe_files

EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "Stop", "SessionEnd")


class Home:
    """A user's folders, a project of theirs and a vault; the command line is run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.vault = fill(folder / "my notes", {"a.md": "# A\n"})
        self.project = folder / "project"
        (self.project / ".git").mkdir(parents=True)
        self.environ = {
            "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config"), "XDG_DATA_HOME": str(folder / "data"),
            "XDG_STATE_HOME": str(folder / "state"), "PATH": os.environ["PATH"],
        }  # fmt: skip

    def run(self, *words: str, vault: Path | None = None) -> Said:
        with pytest.MonkeyPatch.context() as patch:
            for name in os.environ:
                patch.delenv(name)
            for name, value in self.environ.items():
                patch.setenv(name, value)
            patch.chdir(self.project)
            return call("--vault", str(vault or self.vault), *words)

    def done(self, *words: str, vault: Path | None = None) -> str:
        ended = self.run(*words, vault=vault)
        assert ended.code == 0, ended.err
        return ended.out

    def put(self, path: str, data: bytes) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    def files(self) -> dict[str, bytes]:
        """Everything but what is ours to keep: the data folder."""
        found = (file for file in self.folder.rglob("*") if not file.is_relative_to(self.folder / "data"))
        return {str(file): file.read_bytes() if file.is_file() else b"(folder)" for file in found}

    def records(self) -> list[Path]:
        """The records of what was installed."""
        return list((self.folder / "data" / "vault-memory" / "installed").iterdir())


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


SETTINGS = ".claude/settings.json"


# --- what is written -------------------------------------------------------------------------------------------------


def test_claude_code_gets_its_hooks_and_a_server(home: Home) -> None:
    home.done("install", "claude-code")
    settings = json.loads((home.folder / SETTINGS).read_text())
    assert tuple(settings["hooks"]) == EVENTS
    for event, groups in settings["hooks"].items():
        (group,) = groups
        (hook,) = group["hooks"]
        assert (hook["type"], hook["timeout"], "matcher" in group) == ("command", 10, False)
        command = shlex.split(hook["command"])
        assert command[-5:] == ["--vault", str(home.vault), "hook", "claude-code", event]
        assert os.path.isabs(command[0])
    server = json.loads((home.folder / ".claude.json").read_text())["mcpServers"]["vault-memory"]
    assert server["type"] == "stdio" and server["args"][-3:] == ["--vault", str(home.vault), "mcp"]


@pytest.mark.parametrize(
    ("agent", "scope", "file", "path"),
    [
        ("claude-code", "project", "project/.mcp.json", ("mcpServers", "vault-memory", "command")),
        ("claude-code", "project", "project/.claude/settings.json", ("hooks", "Stop")),
        ("opencode", "user", ".config/opencode/opencode.json", ("mcp", "vault-memory", "enabled")),
        ("opencode", "project", "project/opencode.json", ("mcp", "vault-memory", "enabled")),
        ("claude-desktop", "user", None, ("mcpServers", "vault-memory", "args")),
        ("cursor", "user", ".cursor/mcp.json", ("mcpServers", "vault-memory", "args")),
        ("cursor", "project", "project/.cursor/mcp.json", ("mcpServers", "vault-memory", "args")),
        ("vscode", "user", None, ("servers", "vault-memory", "type")),
        ("vscode", "project", "project/.vscode/mcp.json", ("servers", "vault-memory", "type")),
    ],
)
def test_each_agent_gets_it_where_it_looks(
    home: Home, agent: str, scope: str, file: str | None, path: tuple[str, ...]
) -> None:
    before = home.files()
    told = json.loads(home.done("--json", "install", agent, "--scope", scope))
    assert {one["action"] for one in told["files"]} == {"created"}
    written = home.folder / file if file else Path(told["files"][0]["path"])
    found = json.loads(written.read_text())
    for key in path:
        found = found[key]
    assert found
    assert home.done("install", agent, "--scope", scope) == "Nothing to do.\n"
    home.done("uninstall", agent, "--scope", scope)
    assert home.files() == before


def test_a_project_has_no_claude_desktop(home: Home) -> None:
    ended = home.run("install", "claude-desktop", "--scope", "project")
    assert (ended.code, "--scope user" in ended.err) == (2, True)


def test_the_places_are_those_of_each_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = settings_paths.Program(("memory",), 2.0)
    environ = {"HOME": str(tmp_path), "APPDATA": str(tmp_path / "Roaming")}
    place = settings_paths.InstallPlace("user", tmp_path, environ)
    for system, desktop, code in (
        ("darwin", "Library/Application Support/Claude", "Library/Application Support/Code/User"),
        ("win32", "Roaming/Claude", "Roaming/Code/User"),
        ("linux", ".config/Claude", ".config/Code/User"),
    ):
        monkeypatch.setattr(sys, "platform", system)
        files = [
            settings_paths.target(agent, place, program).settings[0].file for agent in ("claude-desktop", "vscode")
        ]
        assert files == [tmp_path / desktop / "claude_desktop_config.json", tmp_path / code / "mcp.json"]


def test_claude_codes_own_folder_is_honoured(home: Home) -> None:
    home.environ["CLAUDE_CONFIG_DIR"] = str(home.folder / "elsewhere")
    home.done("install", "claude-code")
    assert sorted(os.listdir(home.folder / "elsewhere")) == [".claude.json", "settings.json", "skills"]
    skill = (home.folder / "elsewhere" / "skills" / "vault-memory" / "SKILL.md").read_text("utf-8")
    assert skill.startswith("---\nname: vault-memory\n") and skill.count("vault-memory sha=") == 1


# --- what stays ------------------------------------------------------------------------------------------------------

UNUSUAL = [
    b"{}",
    b"{ }",
    b"{\n\n}\n",
    b" \n",
    b"",
    b'\xef\xbb\xbf{\r\n\t"model" : "x" ,\r\n\t"big":123456789012345678901234567890.50,\r\n\r\n}\r\n'.replace(
        b",\r\n\r\n}", b"\r\n\r\n}"
    ),
    b'{"a":1,"a":2,"hooks":{},"\\u0068ooks2":"\\/\\ud83d\\ude00"}',
    b'{"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"say done"}]}]},\n"permissions": {}}',
    b'{\n    "hooks": {\n        "Stop": [],\n        "PreToolUse": [\n            1\n        ]\n    }\n}',
    b'{"hooks"\n:\n{ "SessionEnd" : [ ] }\n}\n\n\n',
]


@pytest.mark.parametrize("data", UNUSUAL)
def test_unusual_settings_come_back_byte_for_byte(home: Home, data: bytes) -> None:
    file = home.put(SETTINGS, data)
    file.chmod(0o640)
    home.done("install", "claude-code")
    installed = file.read_bytes()
    hooks = json.loads(installed.decode("utf-8-sig"))["hooks"]
    assert all(any("hook claude-code" in json.dumps(group) for group in hooks[event]) for event in EVENTS)
    assert home.done("install", "claude-code") == "Nothing to do.\n" and file.read_bytes() == installed
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    home.done("uninstall", "claude-code")
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (data, 0o640)
    assert home.done("uninstall", "claude-code") == "Nothing to do.\n"


def installer(folder: Path, agent: str = "cursor", program: str = "/bin/memory") -> Installer:
    """What the command line makes for an agent in a user's folder."""
    environ = {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / ".config")}
    place = settings_paths.InstallPlace("user", folder, environ)
    words = (program, "--vault", "/v")
    return Installer(settings_paths.target(agent, place, settings_paths.Program(words, 2.0)), environ)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@settings(max_examples=40)
@given(texts(), st.booleans(), st.booleans())
def test_any_text_comes_back(folder: Path, text: str, is_renewed: bool, is_edited: bool) -> None:
    file = folder / SETTINGS
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    is_edited = is_edited and '"hooks"' not in text  # an empty one goes with ours
    try:
        changes = installer(folder, "claude-code").install()
    except RefusedError:
        return
    installer(folder, "claude-code").apply(changes)
    if is_renewed:
        other = installer(folder, "claude-code", "/other/memory")
        other.apply(other.install())
    if is_edited:  # outside of ours: then nobody can simply put the old text back
        file.write_bytes(file.read_bytes() + b"\n")
    again = installer(folder, "claude-code")
    again.apply(again.uninstall())
    left = file.read_bytes().decode()
    assert "".join(left.split()) == "".join(text.split()) if is_edited else left == text


def test_what_a_user_changed_in_between_stays(home: Home) -> None:
    file = home.put(SETTINGS, b'{\n  "model": "x"\n}\n')
    home.done("install", "claude-code")
    changed = json.loads(file.read_text())
    changed["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "say done"}]})
    changed["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "say hello"})
    changed["model"] = "y"
    file.write_text(json.dumps(changed, indent=4))
    assert home.done("install", "claude-code") == "Nothing to do.\n"
    home.done("uninstall", "claude-code")
    assert json.loads(file.read_text()) == {
        "model": "y",
        "hooks": {
            "SessionStart": [{"hooks": [{"type": "command", "command": "say hello"}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        },
    }


def test_an_older_entry_is_brought_up_to_date_where_it_stands(home: Home) -> None:
    data = b'{"mcpServers": {"vault-memory": {"command": "/old/memory", "args": ["mcp"]}, "b": {}}}'
    file = home.put(".cursor/mcp.json", data)
    home.done("install", "cursor")
    servers = json.loads(file.read_text())["mcpServers"]
    assert list(servers) == ["vault-memory", "b"] and str(home.vault) in servers["vault-memory"]["args"]
    other = fill(home.folder / "other", {"b.md": "# B\n"})
    home.done("install", "cursor", vault=other)
    assert str(other) in file.read_text() and str(home.vault) not in file.read_text()


OTHERS: list[tuple[str, str, Any, str]] = [
    ("cursor", ".cursor/mcp.json", {"mcpServers": {"vault-memory": {"command": "npx", "args": ["theirs", "mcp"]}}},
     "mcpServers.vault-memory"),
    ("cursor", ".cursor/mcp.json", {"mcpServers": {"vault-memory": {"url": "https://example.org/mcp"}}},
     "mcpServers.vault-memory"),
    ("opencode", ".config/opencode/opencode.json", {"mcp": {"vault-memory": {"command": ["npx", "mcp"]}}},
     "mcp.vault-memory"),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "path", "settings", "name"), OTHERS)
def test_another_program_of_our_name_is_left_alone(home: Home, agent: str, path: str, settings: Any, name: str) -> None:
    file = home.put(path, json.dumps(settings).encode())
    before = home.files()
    ended = home.run("install", agent)
    assert (ended.code, f"`{name}` in {file} belongs to another program" in ended.err) == (5, True)
    ended = home.run("uninstall", agent)
    assert (ended.out, f"`{name}` in {file} belongs to another program and was left" in ended.err) == (
        "Nothing to do.\n", True,
    )  # fmt: skip
    assert home.files() == before


@pytest.mark.parametrize("agent", ["cursor", "claude-code", "opencode"])
def test_what_a_user_added_to_our_server_stays(home: Home, agent: str) -> None:
    told = json.loads(home.done("--json", "install", agent))
    file, holder = {
        "cursor": (home.folder / ".cursor/mcp.json", "mcpServers"),
        "claude-code": (home.folder / ".claude.json", "mcpServers"),
        "opencode": (home.folder / ".config/opencode/opencode.json", "mcp"),
    }[agent]
    assert str(file) in {one["path"] for one in told["files"]}
    document = json.loads(file.read_text())
    added = {"env": {"A": "secret"}, "timeout": 99, "disabled": True, "alwaysAllow": ["memory_search"]}
    document[holder]["vault-memory"] |= added
    if agent == "opencode":
        document[holder]["vault-memory"]["enabled"] = False
    file.write_text(json.dumps(document))
    assert home.done("install", agent) == "Nothing to do.\n"
    other = fill(home.folder / "other", {"b.md": "# B\n"})
    home.done("install", agent, vault=other)
    found = json.loads(file.read_text())[holder]["vault-memory"]
    assert {name: found[name] for name in added} == added and str(other) in json.dumps(found)
    assert found.get("enabled", False) is False and str(home.vault) not in json.dumps(found)
    ended = home.run("uninstall", agent)
    names = ", ".join(f"{holder}.vault-memory.{name}" for name in added)
    assert f"This removed what you had added there: {names}" in ended.err and "secret" not in ended.err
    assert not file.exists()
    assert any(b"secret" in copy.read_bytes() for copy in (home.folder / "data/vault-memory/backups").iterdir())


def test_what_a_user_added_to_our_hooks_stays(home: Home) -> None:
    home.done("install", "claude-code")
    file = home.folder / SETTINGS
    document = json.loads(file.read_text())
    document["hooks"]["SessionStart"][0]["matcher"] = "startup"
    document["hooks"]["SessionStart"][0]["hooks"][0] |= {"timeout": 60, "statusMessage": "remembering"}
    document["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 1
    file.write_text(json.dumps(document, indent=1))
    other = fill(home.folder / "other", {"b.md": "# B\n"})
    home.done("install", "claude-code", vault=other)
    hooks = json.loads(file.read_text())["hooks"]
    (group,) = hooks["SessionStart"]
    assert group["matcher"] == "startup" and str(other) in group["hooks"][0]["command"]
    assert (group["hooks"][0]["timeout"], group["hooks"][0]["statusMessage"]) == (60, "remembering")
    assert hooks["Stop"][0]["hooks"][0]["timeout"] == 10  # it would come before the hook's own deadline
    ended = home.run("uninstall", "claude-code")
    assert "hooks.SessionStart.matcher" in ended.err and "hooks.SessionStart.statusMessage" in ended.err
    assert not file.exists()


# --- out of the project ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "link", "leads_to"),
    [
        ("claude-code", ".claude", ".."),
        ("claude-code", ".claude", "../nowhere"),
        ("claude-code", ".mcp.json", "../.zlogin"),
        ("claude-code", ".claude/skills/vault-memory/SKILL.md", "../../../../../SKILL.md"),
        ("claude-code", ".claude/skills", "../../elsewhere"),
        ("opencode", "opencode.json", "../opencode.json"),
        ("opencode", ".opencode", "../elsewhere"),
        ("cursor", ".cursor/mcp.json", "../../.cursor/mcp.json"),
        ("vscode", ".vscode", "../project2"),
    ],
)
def test_no_link_of_a_project_leads_out_of_it(home: Home, agent: str, link: str, leads_to: str) -> None:
    (home.folder / "project2").mkdir()
    home.put("elsewhere/a", b"")
    named = home.project / link
    named.parent.mkdir(parents=True, exist_ok=True)
    named.symlink_to(leads_to)
    before = home.files()
    for command in ("install", "uninstall"):
        ended = home.run(command, agent, "--scope", "project")
        assert (ended.code, "leads out of the project by a link" in ended.err) == (6, True)
        assert home.files() == before and "Traceback" not in ended.err
    assert home.run("install", agent, "--dry-run").code == 0


@pytest.mark.parametrize("command", ["install", "uninstall"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_plain_file_is_refused_at_once(home: Home, command: str, kind: str) -> None:
    file = home.folder / ".cursor/mcp.json"
    file.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file.symlink_to("/dev/zero")
    ended = home.run(command, "cursor")
    assert (ended.code, "is not a regular file" in ended.err) == (6, True)


@pytest.mark.parametrize(
    ("data", "why", "commands"),
    [(b'{"a" 1}', "line 1: Expecting ':' delimiter", ("install", "uninstall")),
     (b'{\n  // why\n  "a" 1\n}', "line 3: Expecting ':' delimiter", ("install", "uninstall")),
     (b"\xff\xfe{}", "is not UTF-8", ("install", "uninstall")), (b"[1]", "it is not a JSON object", ("install",)),
     (b'{"hooks": []}', "`hooks` is not an object", ("install",)),
     (b'{"hooks": {"Stop": null}}', "`hooks.Stop` is not an array", ("install",))],
)  # fmt: skip
def test_what_cannot_be_read_or_edited_is_not_touched(
    home: Home, data: bytes, why: str, commands: tuple[str, ...]
) -> None:
    file = home.put(SETTINGS, data)
    before = home.files()
    for command in commands:
        ended = home.run(command, "claude-code")
        assert ended.code == 6 and str(file) in ended.err and why in ended.err
        assert home.files() == before  # and nothing went into the other file


@pytest.mark.parametrize(("agent", "holder"), [("vscode", "servers"), ("cursor", "mcpServers")])
def test_comments_stay(home: Home, agent: str, holder: str) -> None:
    data = f'// mine\n{{\n  "{holder}": {{\n    "a": {{}}, /* why */ // so\n  }},\n}}\n'.encode()
    file = home.put(f"project/.{agent}/mcp.json", data)
    home.done("install", agent, "--scope", "project")
    assert b"/* why */ // so" in file.read_bytes() and b"vault-memory" in file.read_bytes()
    home.done("uninstall", agent, "--scope", "project")
    assert file.read_bytes() == data


def test_a_link_is_followed_and_kept(home: Home) -> None:
    real = home.put("dotfiles/settings.json", b'{"a": 1}\n')
    (home.folder / ".claude").mkdir()
    link = home.folder / SETTINGS
    link.symlink_to(real)
    home.done("install", "claude-code")
    assert link.is_symlink() and b"hooks" in real.read_bytes()
    home.done("uninstall", "claude-code")
    assert link.is_symlink() and real.read_bytes() == b'{"a": 1}\n'


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_file_that_is_read_only_is_not_touched(home: Home, command: str) -> None:
    if command == "uninstall":
        home.done("install", "claude-code")
    file = home.folder / SETTINGS if command == "uninstall" else home.put(SETTINGS, b"{}\n")
    file.chmod(0o444)
    before = home.files()
    ended = home.run(command, "claude-code")
    assert ended.code == 6 and f"{file} is read-only: it was not touched." in ended.err
    assert home.files() == before
    file.chmod(0o644)
    home.done(command, "claude-code")


def test_a_hard_link_is_not_parted_from_its_file(home: Home) -> None:
    real = home.put("dotfiles/mcp.json", b"{}\n")
    (home.folder / ".cursor").mkdir()
    os.link(real, home.folder / ".cursor/mcp.json")
    ended = home.run("install", "cursor")
    assert ended.code == 6 and "one of 2 hard links" in ended.err and "symbolic link" in ended.err
    assert real.read_bytes() == b"{}\n" and real.stat().st_nlink == 2


# --- which vault -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", settings_paths.AGENTS)
def test_a_vault_that_takes_the_place_of_another_says_so(home: Home, agent: str) -> None:
    before, other = home.files(), fill(home.folder / "other vault", {"b.md": "# B\n"})
    before |= home.files()
    first = home.run("install", agent)
    assert "instead of" not in first.err
    told = json.loads(home.done("--json", "install", agent, "--dry-run", vault=other))
    assert (told["vault"], told["vaults"]) == (str(other), [str(home.vault)])
    done = home.run("install", agent, vault=other)
    assert f"{settings_paths.NAMES[agent]} now uses {other} instead of the vault {home.vault}." in done.err
    assert "instead of" not in home.run("install", agent, vault=other).err
    assert f"{settings_paths.NAMES[agent]} no longer uses the vault {other}." in home.run("uninstall", agent).err
    assert home.run("uninstall", agent).err == "" and home.files() == before


def test_a_dry_run_shows_the_change_and_makes_none(home: Home) -> None:
    home.put(SETTINGS, b'{\n  "a": 1\n}\n')
    before = home.files()
    said = home.done("install", "claude-code", "--dry-run")
    assert said.startswith(f"--- {home.folder / SETTINGS}\n") and '+  "hooks": {' in said and "+++ " in said
    assert home.files() == before and not (home.folder / "data").exists()


def test_what_was_there_is_kept_for_its_owner_only(home: Home) -> None:
    home.put(SETTINGS, b'{"secret": 1}')
    home.done("install", "claude-code")
    (backup,) = (home.folder / "data" / "vault-memory" / "backups").iterdir()
    assert backup.read_bytes() == b'{"secret": 1}'
    for file in (backup, *home.records()):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_without_its_record_an_uninstall_leaves_nothing_of_ours(home: Home) -> None:
    file = home.put(SETTINGS, b'{\n  "a": 1\n}\n')
    home.done("install", "claude-code")
    for record in home.records():
        record.write_bytes(b"{")
    home.done("uninstall", "claude-code")
    assert file.read_bytes() == b'{\n  "a": 1\n}\n'


def test_an_install_that_was_killed_is_done_by_the_next(home: Home) -> None:
    file = home.put(".cursor/mcp.json", b'{"a": 1}\n')
    # It is killed once its third file (after the copy and the record) is written, and not yet in its place.
    code = (
        "import os, sys; from vault_memory.cli import main; real, seen = os.fsync, []\n"
        "os.fsync = lambda file: os._exit(9) if len(seen) == 2 else (real(file), seen.append(file))\n"
        f"sys.argv = ['memory', '--vault', {str(home.vault)!r}, 'install', 'cursor']; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=home.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=home.project,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 9 and file.read_bytes() == b'{"a": 1}\n'
    assert len(os.listdir(file.parent)) == 2
    assert home.done("uninstall", "cursor") == "Nothing to do.\n"
    home.done("install", "cursor")
    home.done("uninstall", "cursor")
    assert file.read_bytes() == b'{"a": 1}\n' and os.listdir(file.parent) == ["mcp.json"]


def test_a_file_changed_meanwhile_is_not_written(home: Home) -> None:
    file = home.put(".cursor/mcp.json", b"{}")
    changes = installer(home.folder).install()
    file.write_bytes(b'{"a": 1}')
    with pytest.raises(ConflictError):
        installer(home.folder).apply(changes)
    assert file.read_bytes() == b'{"a": 1}' and os.listdir(file.parent) == ["mcp.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="no lock of a folder")
def test_of_two_writers_at_once_neither_loses_a_change_nor_tears_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    writers, rounds = 4, 25
    code = f"""if True:
        import json, pathlib
        from vault_memory.errors import ConflictError
        from vault_memory.integrations.install import replace_file
        file, done = pathlib.Path({str(file)!r}), 0
        while done < {rounds}:
            before = file.read_bytes() if file.exists() else None
            count = json.loads(before)["count"] if before else 0
            try:
                replace_file(file, before, json.dumps({{"count": count + 1}}).encode())
                done += 1
            except ConflictError:
                pass"""
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen([sys.executable, "-c", code], env=environ) for _ in range(writers)]
    assert [each.wait(60) for each in running] == [0] * writers
    assert json.loads(file.read_bytes()) == {"count": writers * rounds} and os.listdir(tmp_path) == [file.name]


def test_a_file_created_at_the_last_moment_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.json"
    place_new = safe_files.place_new

    def place_late(part: Path, target: Path) -> None:
        target.write_bytes(b"theirs")
        place_new(part, target)

    monkeypatch.setattr(safe_files, "place_new", place_late)
    with pytest.raises(ConflictError):
        replace_file(file, None, b"ours")
    assert file.read_bytes() == b"theirs" and os.listdir(tmp_path) == [file.name]


def test_an_uninstall_does_not_need_the_vault(home: Home) -> None:
    before = home.files()
    home.done("install", "cursor")
    home.done("uninstall", "cursor", vault=home.folder / "gone")
    assert home.files() == before


# --- files that are ours as a whole ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "file"),
    [("opencode", ".config/opencode/plugins/vault-memory.js"), ("claude-code", ".claude/skills/vault-memory/SKILL.md")],
)
def test_what_is_ours_and_was_changed_stays_and_all_else_goes_on(home: Home, agent: str, file: str) -> None:
    home.done("install", agent)
    ours = home.folder / file
    ours.write_text(ours.read_text() + "// mine\n")
    for command in ("install", "uninstall"):
        ended = home.run(command, agent)
        assert (ended.code, f"{ours} has changed since it was installed" in ended.err) == (0, True)
        assert ours.read_text().endswith("// mine\n")
    settings = [path for path in home.folder.rglob("*.json*") if "data" not in path.parts]
    assert not [path for path in settings if b"vault-memory" in path.read_bytes()]
