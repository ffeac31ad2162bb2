"""The vault: what a walk sees and passes over, which names lead out, and how a note is replaced."""

import json
import os
import shutil
import socket
import stat
import threading
from pathlib import Path

import pytest
from vaults import fill, memory, paths, put

from vault_memory.config import Config
from vault_memory.errors import ConflictError, RefusedError, VaultError
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import Walk


def vault(root: Path, **settings: object) -> Vault:
    return Vault(Config(vault=root, **settings))  # type: ignore[arg-type]


def skipped(walk: Walk) -> dict[str, str]:
    return {problem.path: problem.message for problem in walk.skipped}


# --- walking ---------------------------------------------------------------------------------------------------------


def test_a_walk_sees_notes_of_any_depth_and_ending(tmp_path: Path) -> None:
    fill(
        tmp_path, {"a.md": "a", "b/c/d/e.md": "longer", "SHOUT.MD": "s", "Ümlaut und 字.md": "u", "with space.Md": "w"}
    )
    walk = vault(tmp_path).walk()
    assert sorted(walk.files) == ["SHOUT.MD", "a.md", "b/c/d/e.md", "with space.Md", "Ümlaut und 字.md"]
    seen = walk.files["b/c/d/e.md"]
    assert (seen.size, seen.mtime_ns) == (6, (tmp_path / "b/c/d/e.md").stat().st_mtime_ns)
    assert (walk.skipped, walk.unreadable, walk.folders) == ([], [], 4)


@pytest.mark.parametrize(
    "path",
    [
        ".hidden.md", ".obsidian/plugins/x/README.md", ".trash/old.md", ".memory/history/a.md", ".git/x.md",
        "a/.deep/b.md",
        "table.base",
    ],
)  # fmt: skip
def test_a_walk_leaves_out(tmp_path: Path, path: str) -> None:
    fill(tmp_path, {path: "x", "kept.md": "k"})
    walk = vault(tmp_path).walk()
    assert list(walk.files) == ["kept.md"]
    assert walk.skipped == []


@pytest.mark.parametrize("folder", [".obsidian", ".obsidian-mobile"])
def test_template_folder_daily_template_and_user_filters_are_left_out(tmp_path: Path, folder: str) -> None:
    filters = '["Private/", "Draft", "/\\\\.excalidraw\\\\.md$/", "/(unclosed/", "", 7]'
    fill(
        tmp_path,
        {
            f"{folder}/app.json": f'{{"userIgnoreFilters": {filters}}}',
            f"{folder}/templates.json": '{"folder": "Meta/Templates"}',
            f"{folder}/daily-notes.json": '{"template": "Meta/Day"}',
            "Meta/Templates/t.md": "", "Meta/Templates/deep/t.md": "", "Meta/Day.md": "", "Private/diary.md": "",
            "Drafts/x.md": "", "Draft.md": "", "a/sketch.excalidraw.md": "",
            "Meta/kept.md": "", "a/Private/kept.md": "", "Final draft.md": "", "sketch excalidraw.md": "",
        },
    )  # fmt: skip
    walk = vault(tmp_path).walk()
    assert sorted(walk.files) == ["Final draft.md", "Meta/kept.md", "a/Private/kept.md", "sketch excalidraw.md"]
    assert list(skipped(walk)) == [f"{folder}/app.json"]
    assert "`/(unclosed/` is not used: it is no regular expression" in skipped(walk)[f"{folder}/app.json"]


@pytest.mark.parametrize(
    ("glob", "out"),
    [
        ("**/*.excalidraw.md", {"x.excalidraw.md", "a/x.excalidraw.md", "a/b/x.excalidraw.md"}),
        ("a/**", {"a/x.excalidraw.md", "a/b/x.excalidraw.md", "a/k.md"}),
        ("x.*", {"x.excalidraw.md"}),
    ],
)
def test_two_stars_stand_for_no_folder_too(tmp_path: Path, glob: str, out: set[str]) -> None:
    notes = {"x.excalidraw.md", "a/x.excalidraw.md", "a/b/x.excalidraw.md", "a/k.md", "k.md"}
    fill(tmp_path, dict.fromkeys(notes, ""))
    assert notes - set(vault(tmp_path, ignore=(glob,)).walk().files) == out


HOSTILE = (
    "(a|a)*b$", "(a+)+b$", "(a*)*b", "((a|b)c?)+$", "(?:a?){50}a{50}", "a.*.*.*.*b", "(a|aa)(a|aa)" * 9, "a?" * 30,
    r"(a)\1*b", "(?P<x>a)(?P=x)*b",
)  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "why"),
    [*((e, "could take for ever") for e in HOSTILE), ("a" * 2000, "too long"), ("(", "no regular expression")],
)
def test_a_filter_that_is_none_or_could_take_for_ever_is_reported_and_not_used(
    tmp_path: Path, expression: str, why: str
) -> None:
    settings = json.dumps({"userIgnoreFilters": [f"/{expression}/", 7]})
    fill(tmp_path, {".obsidian/app.json": settings, f"{'a' * 200}.md": "x"})
    walk = vault(tmp_path).walk()
    assert list(walk.files) == [f"{'a' * 200}.md"]
    assert why in skipped(walk)[".obsidian/app.json"]


@pytest.mark.parametrize(
    ("expression", "out"),
    [
        (r"^Archive/.*/Old.*\.md$", ["Archive/x/Old a.md"]),
        (r"(png|jpe?g|svg)\.md$", ["b.jpg.md"]),
        ("(?i)DRAFT", ["my draft.md"]),
        (r"\d{4}-\d{2}", ["2025-11.md"]),
        ("^a+?b?+", ["aab.md", "abc.md"]),
    ],
)
def test_a_filter_as_people_write_them_is_used(tmp_path: Path, expression: str, out: list[str]) -> None:
    names = ["Archive/x/Old a.md", "b.jpg.md", "my draft.md", "+*x.md", "2025-11.md", "abc.md", "aab.md", "keep.md"]
    settings = json.dumps({"userIgnoreFilters": [f"/{expression}/"]})
    fill(tmp_path, {".obsidian/app.json": settings} | dict.fromkeys(names, ""))
    walk = vault(tmp_path).walk()
    assert (sorted(set(names) - set(walk.files)), walk.skipped) == (out, [])


@pytest.mark.parametrize("target", [".obsidian/plugin.json", ".memory/config.toml", "Private/diary.md", "a/.deep/b.md"])
def test_a_link_leads_to_nothing_that_is_left_out(tmp_path: Path, target: str) -> None:
    fill(tmp_path, {".obsidian/app.json": '{"userIgnoreFilters": ["Private/"]}', target: "secret", "a/c.md": ""})
    (tmp_path / "link.md").symlink_to(tmp_path / target)
    found = vault(tmp_path)
    assert list(found.walk().files) == ["a/c.md"]
    assert skipped(found.walk()) == {"link.md": "a link to no note of the vault: not followed"}
    if "/." in f"/{target}":
        with pytest.raises(RefusedError, match="not a note"):
            found.locate("link.md")
        with pytest.raises(RefusedError, match="nothing was written"):
            found.write("link.md", b"mine", b"secret")
        assert (tmp_path / target).read_bytes() == b"secret"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (None, ("memory", "YYYY-MM-DD", "")),
        ("{", ("memory", "YYYY-MM-DD", "")),
        ('{"folder": null, "format": "", "template": "/T/Day/"}', ("", "YYYY-MM-DD", "T/Day.md")),
        ('{"folder": "/Log/", "format": "YYYY/MM-DD", "template": "T/Day.md"}', ("Log", "YYYY/MM-DD", "T/Day.md")),
    ],
)
def test_daily_notes_lie_where_obsidian_puts_them(
    tmp_path: Path, settings: str | None, expected: tuple[str, ...]
) -> None:
    fill(tmp_path, {} if settings is None else {".obsidian/daily-notes.json": settings})
    daily = vault(tmp_path).daily
    assert (daily.folder, daily.format, daily.template) == expected


@pytest.mark.parametrize(
    "name",
    [
        "2025-11-27 (Nora's conflicted copy 2025-11-28).md", "plan (conflicted copy 2025-11-27 101010).md",
        "plan (Case Conflict).md", "plan (Nora's Mac's conflicted copy 2025-01-01).md",
        "plan.sync-conflict-20251127-101010-ABCDEF7.md", "plan_conflict-20251127-101010.md",
    ],
)  # fmt: skip
def test_a_sync_conflict_copy_is_left_out_and_reported(tmp_path: Path, name: str) -> None:
    fill(tmp_path, {f"a/{name}": "x", "a/plan.md": "x"})
    walk = vault(tmp_path).walk()
    assert list(walk.files) == ["a/plan.md"]
    assert list(skipped(walk)) == [f"a/{name}"]
    assert "conflict copy" in skipped(walk)[f"a/{name}"]


@pytest.mark.parametrize("name", ["Conflict.md", "plan (final).md", "a conflicted copy editor.md", "sync-conflict.md"])
def test_a_name_that_only_talks_of_conflicts_is_a_note(tmp_path: Path, name: str) -> None:
    fill(tmp_path, {name: "x"})
    assert list(vault(tmp_path).walk().files) == [name]


def test_no_link_is_followed_and_those_to_what_is_no_note_of_the_vault_are_told(tmp_path: Path) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    fill(outside, {"secret.md": "s", "folder/deep.md": "d"})
    fill(root, {"note.md": "n", "data.txt": "found by its name", "sub/x.md": "x"})
    links = {
        "twin.md": root / "note.md", "text.md": root / "data.txt", "out.md": outside / "secret.md",
        "outfolder": outside / "folder", "infolder": root / "sub", "up": tmp_path, "self": root, "loop": Path("loop"),
        "dangling.md": root / "nowhere.md", "dangling": root / "nowhere", "folder.md": root / "sub",
        "device.md": Path("/dev/null"),
    }  # fmt: skip
    for name, target in links.items():
        (root / name).symlink_to(target)
    (root / "loop.md").symlink_to("loop.md")
    (root / "sub/cycle").symlink_to("..")
    walk = vault(root).walk()
    assert sorted(walk.files) == ["data.txt", "note.md", "sub/x.md"]

    def told(words: str) -> set[str]:
        return {path for path, reason in skipped(walk).items() if words in reason}

    assert told("out of the vault") == {"out.md", "outfolder", "up", "device.md"}
    nowhere = {"dangling.md", "dangling", "loop", "loop.md"}
    assert told("no note of the vault") == {"infolder", "self", "sub/cycle", "folder.md", "text.md"} | nowhere


def test_a_vault_reached_through_a_link_is_the_same_vault(tmp_path: Path) -> None:
    fill(tmp_path / "real", {"a.md": "x"})
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real/twin.md").symlink_to(tmp_path / "link/a.md")
    found = vault(tmp_path / "link")
    assert found.root == (tmp_path / "real").resolve()
    assert list(found.walk().files) == ["a.md"]
    assert found.locate(str(tmp_path / "link/a.md")) == found.locate(str(tmp_path / "real/a.md")) == "a.md"


def test_pipes_sockets_and_folders_named_like_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, {"a.md": "x", "folder.md/inside.md": "y"})
    os.mkfifo(tmp_path / "pipe.md")
    monkeypatch.chdir(tmp_path)  # a socket's path may not be long
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")
        walk = vault(tmp_path).walk()
    assert sorted(walk.files) == ["a.md", "folder.md/inside.md"]
    assert sorted(skipped(walk)) == ["pipe.md", "socket.md"]
    assert all("not a regular file" in reason for reason in skipped(walk).values())


def test_names_that_are_not_utf8_are_reported_and_names_with_line_ends_are_notes(tmp_path: Path) -> None:
    fill(tmp_path, {"line\nend.md": "x", "tab\t.md": "y", "\u202egnp.md": "z"})
    (tmp_path / "caf\udce9.md").write_text("latin")
    (tmp_path / "dir\udcff").mkdir()
    (tmp_path / "dir\udcff/inside.md").write_text("x")
    walk = vault(tmp_path).walk()
    assert sorted(walk.files) == sorted(["line\nend.md", "tab\t.md", "\u202egnp.md"])
    assert sorted(skipped(walk)) == ["caf\\xe9.md", "dir\\xff/inside.md"]
    assert all("not UTF-8" in reason for reason in skipped(walk).values())


# --- names people give -----------------------------------------------------------------------------------------------


@pytest.fixture
def guarded(tmp_path: Path) -> Vault:
    """A vault beside things it must not hand out."""
    fill(tmp_path, {"outside.md": "o", "vault-evil/x.md": "e", "vault.md": "v"})
    root = fill(tmp_path / "vault", {"a.md": "a", "sub/b.md": "b", "c.txt": "c", ".hidden/h.md": "h", "SHOUT.MD": "s"})
    (root / "out.md").symlink_to(tmp_path / "outside.md")
    (root / "way").symlink_to(tmp_path)
    (root / "in.md").symlink_to("sub/b.md")
    (root / "sub/in").symlink_to("../sub")
    (root / "loop.md").symlink_to("loop.md")
    return vault(root)


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ("a.md", "a.md"), ("a", "a.md"), ("./a.md", "a.md"), ("sub/b", "sub/b.md"), ("sub//b.md", "sub/b.md"),
        ("sub/../a", "a.md"),
        ("in.md", "in.md"), ("sub/in/b.md", "sub/in/b.md"), ("SHOUT.MD", "SHOUT.MD"), ("nope", None), ("sub", None),
        ("c.txt", None),
        ("", None), (".", None), ("a.md/", "a.md"), ("a.md/b", None), ("x" * 300, None), ("y/" * 3000, None),
        ("loop.md", None),
    ],
)  # fmt: skip
def test_a_note_is_found_by_the_name_a_person_gives(guarded: Vault, named: str, path: str | None) -> None:
    assert guarded.locate(named) == path
    if named and not named.startswith("y/"):
        assert guarded.locate(str(guarded.root / named)) == path


@pytest.mark.parametrize(
    "named",
    [
        "..", "../outside.md", "sub/../../outside.md", "../vault-evil/x.md", "ROOT-evil/x.md", "ROOT/../x.md",
        "/etc/passwd", "/etc/hosts.md",
        "//etc/passwd", "out.md", "out", "way/outside.md", "way/vault-evil/x", "a.md\0", "\0", "sub/\0/b.md",
        "/nowhere/at/all.md",
        "way/vault/../outside.md", ".hidden/h.md", ".hidden/h", "sub/../.hidden/h.md",
    ],
)  # fmt: skip
def test_a_name_that_leads_out_is_refused(guarded: Vault, named: str) -> None:
    with pytest.raises(RefusedError):
        guarded.locate(named.replace("ROOT", str(guarded.root)))


# --- writing ---------------------------------------------------------------------------------------------------------


def leftovers(found: Vault) -> list[Path]:
    """Files a write has left behind: anything below `.memory` that is not a folder."""
    return [path for path in (found.root / ".memory").rglob("*") if not path.is_dir()]


def test_a_write_replaces_a_note_whole_and_keeps_what_hangs_on_it(tmp_path: Path) -> None:
    file = put(tmp_path, "a.md", "old")
    os.chmod(file, 0o640)
    if os.geteuid() == 0:
        os.chown(file, 1234, 1235)
    marked = _mark(file)
    before = file.stat()
    with open(file, "rb") as reader:  # someone who has the note open goes on reading the old text
        vault(tmp_path).write("a.md", b"new\r\n", b"old")
        assert reader.read() == b"old"
    after = file.stat()
    assert file.read_bytes() == b"new\r\n"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    if marked:
        assert os.getxattr(file, "user.vault-test") == b"kept"
    assert leftovers(vault(tmp_path)) == []
    assert [path.name for path in tmp_path.iterdir()] in (["a.md", ".memory"], [".memory", "a.md"])


def _mark(file: Path) -> bool:
    try:
        os.setxattr(file, "user.vault-test", b"kept")
    except (OSError, AttributeError):
        return False
    return True


def test_a_new_note_gets_its_folders_and_the_usual_mode(tmp_path: Path) -> None:
    found = vault(tmp_path)
    found.write("x/y/new.md", b"text", None)
    put(tmp_path, "usual.md", "x")
    assert found.read("x/y/new.md") == b"text"
    assert stat.S_IMODE((tmp_path / "x/y/new.md").stat().st_mode) == stat.S_IMODE(
        (tmp_path / "usual.md").stat().st_mode
    )
    assert (tmp_path / "x/y/new.md").stat().st_nlink == 1
    assert leftovers(found) == []


@pytest.mark.parametrize("path", ["../x.md", "link.md", "way/x.md", "/tmp/x.md", "a/../../x.md", "dangling.md"])
def test_a_write_never_leaves_the_vault(tmp_path: Path, path: str) -> None:
    root = fill(tmp_path / "vault", {"a.md": "a"})
    put(tmp_path, "x.md", "old")
    (root / "link.md").symlink_to(tmp_path / "x.md")
    (root / "way").symlink_to(tmp_path)
    (root / "dangling.md").symlink_to(tmp_path / "made.md")
    for expected in (b"old", None):
        with pytest.raises(RefusedError):
            vault(root).write(path, b"new", expected)
    assert (tmp_path / "x.md").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["vault", "x.md"]


def test_what_the_system_refuses_to_write_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    found = vault(fill(tmp_path, {"a.md": "old"}))
    with pytest.raises(VaultError, match="cannot be read"):
        found.write(f"{'x' * 300}.md", b"new", None)
    with pytest.raises(VaultError, match="cannot be written"):
        found.write("a.md/b/c.md", b"new", None)
    (tmp_path / ".memory").mkdir(exist_ok=True)
    shutil.rmtree(tmp_path / ".memory/tmp", ignore_errors=True)
    (tmp_path / ".memory/tmp").symlink_to(tmp_path)
    with pytest.raises(RefusedError, match="is behind a link"):
        found.write("a.md", b"new", b"old")
    assert found.read("a.md") == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".memory", "a.md"]
    assert found.seconds_since_saved("b.md") == float("inf")


@pytest.mark.parametrize(
    ("there", "expected"),
    [(b"theirs", b"old"), (b"", b"old"), (b"theirs", None), (b"", None), (None, b"old"), (b"old ", b"old")],
)
@pytest.mark.parametrize("path", ["a.md", "sub/a.md"])
def test_a_note_that_changed_appeared_or_vanished_is_a_conflict(
    tmp_path: Path, path: str, there: bytes | None, expected: bytes | None
) -> None:
    if there is not None:
        put(tmp_path, path, there)
    found = vault(tmp_path)
    with pytest.raises(ConflictError):
        found.write(path, b"mine", expected)
    assert ((tmp_path / path).read_bytes() if there is not None else None) == there
    assert (tmp_path / path).exists() == (there is not None)
    assert leftovers(found) == []
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != ".memory") == (
        [path.split("/")[0]] if there is not None else []
    )


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    put(tmp_path, "a.md", b"")

    def append(name: str, count: int) -> None:
        mine = vault(tmp_path)
        for n in range(count):
            while True:
                before = mine.read("a.md")
                try:
                    mine.write("a.md", before + f"{name}{n}\n".encode(), before)
                    break
                except ConflictError:
                    continue

    workers = [threading.Thread(target=append, args=(name, 25)) for name in "abcd"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    lines = (tmp_path / "a.md").read_text().split()
    assert sorted(lines) == sorted(f"{name}{n}" for name in "abcd" for n in range(25))
    assert leftovers(vault(tmp_path)) == []


@pytest.mark.parametrize("broken", ["", '{"userIgnoreFilters": ["Priv', '{"userIgnoreFilters": "Private/"}', "[]"])
def test_settings_cut_off_by_a_sync_lay_nothing_open(tmp_path: Path, broken: str) -> None:
    root = fill(tmp_path / "vault", {"a.md": "heron", "Private/p.md": "weir"})
    put(root, ".obsidian/app.json", '{"userIgnoreFilters": ["Private/"]}')
    mine = memory(root)
    mine.index()
    put(root, ".obsidian/app.json", broken)
    put(root, "a.md", "heron and ferry")
    report = memory(root).index()
    assert (report.modified, report.added, report.pending) == (1, 0, 1)
    assert any("not known which notes" in problem.message for problem in report.problems)
    assert paths(mine) == {"a.md"}
    with pytest.raises(RefusedError, match="not known which notes"):
        memory(root).index(rebuild=True)
    put(root, ".obsidian/app.json", "{}")
    assert memory(root).index().added == 1


def test_settings_cut_off_lay_nothing_open_where_there_was_no_note_yet(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", {".obsidian/app.json": '{"userIgnoreFilters": ["Private/"]}'})
    assert memory(root).index().added == 0
    fill(root, {".obsidian/app.json": '{"userIgnoreFil', "Private/p.md": "weir"})
    report = memory(root).index()
    assert (report.added, report.pending) == (0, 1)
