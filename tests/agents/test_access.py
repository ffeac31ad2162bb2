"""Which scopes are open to whom, and what settings say of folders."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vaults import fill, memory

from vault_memory.config import Config, load
from vault_memory.errors import UsageError
from vault_memory.health.doctor import doctor
from vault_memory.markdown.scopes import folder_scope
from vault_memory.sessions import projects
from vault_memory.sessions.projects import Asker, identifier, open_scopes
from vault_memory.text.scope_syntax import folder_key, is_scope, normal_scope


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def opened(asker: Asker, tmp_path: Path, environ: dict[str, str] | None = None, **config: object) -> tuple[str, ...]:
    return open_scopes(asker, Config(vault=tmp_path, **config), {**os.environ, **(environ or {})})  # type: ignore[arg-type]


def test_what_is_for_all_is_always_open(tmp_path: Path) -> None:
    assert opened(Asker(), tmp_path) == ("global",)
    assert opened(Asker("Claude Code"), tmp_path) == ("global", "agent:claude-code")
    assert opened(Asker("", tmp_path / "nowhere"), tmp_path) == ("global",)


def test_the_project_is_that_of_the_git_root(tmp_path: Path) -> None:
    root = made(tmp_path / "Client A (old)")
    made(root / ".git")
    below = made(root / "src/deep")
    assert opened(Asker("moss", below), tmp_path) == ("global", "project:client-a-old", "agent:moss")
    assert opened(Asker(folder=tmp_path), tmp_path) == ("global",)


def test_a_further_worktree_is_of_the_same_project(tmp_path: Path) -> None:
    main, other = made(tmp_path / "tern"), made(tmp_path / "tern-fix")
    entry = made(main / ".git/worktrees/fix")
    (other / ".git").write_text(f"gitdir: {entry}\n")
    (entry / "gitdir").write_text(f"{other / '.git'}\n")
    assert opened(Asker(folder=other), tmp_path) == ("global", "project:tern")


def test_a_file_that_only_says_so_opens_no_project(tmp_path: Path) -> None:
    main, other = made(tmp_path / "secret"), made(tmp_path / "from-anywhere")
    entry = made(main / ".git/worktrees/fix")
    (other / ".git").write_text(f"gitdir: {entry}\n")
    assert opened(Asker(folder=other), tmp_path) == ("global", "project:from-anywhere")
    (entry / "gitdir").write_text(f"{tmp_path / 'elsewhere/.git'}\n")
    assert opened(Asker(folder=other), tmp_path) == ("global", "project:from-anywhere")


def test_a_second_repository_of_a_name_is_a_project_of_its_own(tmp_path: Path) -> None:
    """A note that is private to one client's `api` is not open in another client's."""
    first, second = made(tmp_path / "a/api"), made(tmp_path / "b/api")
    made(first / ".git"), made(second / ".git")
    assert opened(Asker(folder=first), tmp_path) == ("global", "project:api")
    (_, own) = opened(Asker(folder=made(second / "src")), tmp_path)
    assert own.startswith("project:api-") and is_scope(own)
    assert list(projects.list_shared_names(Config(vault=tmp_path), os.environ)) == [("api", [str(first), str(second)])]
    for named in (first, second):  # either is named, and the other is the only one
        config = {"projects": ((str(named), "project:client"),)}
        other = second if named == first else first
        assert opened(Asker(folder=named), tmp_path, **config) == ("global", "project:client")
        assert opened(Asker(folder=other), tmp_path, **config) == ("global", "project:api")
        assert not list(projects.list_shared_names(Config(vault=tmp_path, **config), os.environ))  # type: ignore[arg-type]
    assert opened(Asker(folder=second), tmp_path) == ("global", own)


def test_the_doctor_says_so(tmp_path: Path) -> None:
    root = fill(tmp_path / "v", {"Work/a.md": "A kettle.\n"})
    for client in ("a", "b"):
        made(tmp_path / client / "api/.git")
        projects.find_project(tmp_path / client / "api", Config(vault=root), os.environ)
    mine = memory(root, folder_scopes=(("work", "project:a"), ("wrok", "project:b")))
    found = [check.message for check in doctor(mine) if check.name == "scopes"]
    assert found[0] == "`scopes.wrok` (project:b) names a folder without notes"
    assert found[1].startswith(
        f"2 folders are called api: {tmp_path}/a/api is project:api, {tmp_path}/b/api is project:api-"
    )
    assert len(found) == 2


def test_a_folder_of_the_settings_wins_over_the_name(tmp_path: Path) -> None:
    root = made(tmp_path / "work/tern")
    made(root / ".git")
    config = {"projects": ((str(tmp_path / "work"), "project:client"), (str(root / "docs"), "project:docs"))}
    assert opened(Asker(folder=root), tmp_path, **config) == ("global", "project:client")
    assert opened(Asker(folder=made(root / "docs/a")), tmp_path, **config) == ("global", "project:docs")


def test_the_environment_opens_more(tmp_path: Path) -> None:
    given = {"MEMORY_SCOPE": " user:Ada ,, project:Tern,global"}
    assert opened(Asker("a"), tmp_path, given) == ("global", "agent:a", "user:ada", "project:tern")
    with pytest.raises(UsageError, match=r"MEMORY_SCOPE names `everything`"):
        opened(Asker(), tmp_path, {"MEMORY_SCOPE": "global,everything"})


@given(st.text(max_size=30))
def test_an_identifier_can_stand_in_a_fact(name: str) -> None:
    made_of = identifier(name)
    assert not made_of or is_scope(f"project:{made_of}")
    assert not set(made_of) & set(",() \n")
    assert identifier(made_of) == made_of
    assert not made_of or normal_scope(f"project:{made_of}") == f"project:{made_of}"


# --- folders ---------------------------------------------------------------------------------------------------------

FOLDERS = (("private", "agent:moss"), ("private/shared", "project:tern"), ("work/client a", "project:a"))


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("a.md", "global"), ("Private/a.md", "agent:moss"), ("PRIVATE/deep/a.md", "agent:moss"),
        ("Private/Shared/a.md", "project:tern"), ("Privateer/a.md", "global"), ("Work/Client A/x/a.md", "project:a"),
        ("Work/a.md", "global"), ("x/Private/a.md", "global"),
    ],
)  # fmt: skip
def test_the_nearest_folder_decides(path: str, scope: str) -> None:
    assert folder_scope(path, FOLDERS) == scope


def test_a_dot_is_the_whole_vault() -> None:
    assert folder_scope("x/a.md", ((folder_key("."), "project:x"),)) == "project:x"


def test_settings_of_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = made(tmp_path / "config/vault-memory") / "config.toml"
    vault = made(tmp_path / "v/.memory").parent
    user.write_text(f'[scopes]\n"Work/" = "project:Work"\n[projects]\n"{tmp_path}/src" = "tern"\n')
    (vault / ".memory/config.toml").write_text(
        '[scopes]\nDiary = "user:ada"\nOpen = "global"\n"work/sub" = "agent:moss"\n[projects]\n"/" = "tern"\n'
    )
    config = load(str(vault), {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)})
    assert config.folder_scopes == (("diary", "user:ada"), ("work", "project:work"))
    assert config.projects == ((f"{tmp_path}/src", "project:tern"),)
    assert ["open" in s or "work/sub" in s or "projects./" in s for s in config.ignored] == [True] * 3


@pytest.mark.parametrize("name", ["Scopes", "scope", "SCOPE"])
def test_a_table_that_may_have_been_meant_to_shut_folders_is_not_passed_over(tmp_path: Path, name: str) -> None:
    (made(tmp_path / "v/.memory") / "config.toml").write_text(f'[{name}]\nDiary = "user:ada"\n')
    with pytest.raises(UsageError, match=r"Diary` is not a setting"):
        load(str(tmp_path / "v"), {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)})


@pytest.mark.parametrize(
    "table",
    ['[scopes]\na = "everyone"', "[scopes]\na = 3", '[scopes]\n"../a" = "agent:x"',
     '[scopes]\na="agent:x"\nA="agent:y"', '[projects]\n"/x" = "a b"', "[scopes.a]\nb = 1"],
)  # fmt: skip
def test_a_bad_table_is_told(tmp_path: Path, table: str) -> None:
    made(tmp_path / "v/.memory")
    (made(tmp_path / "config/vault-memory") / "config.toml").write_text(table)
    with pytest.raises(UsageError, match=r"scopes\.|projects\."):
        load(str(tmp_path / "v"), {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": str(tmp_path)})
