"""What systemd, launchd and cron are given: each format read back by its own rules, files put in place and taken away.

A test machine has no session of systemd, so `systemctl` and `launchctl` are small scripts here, which note their calls
and keep what is enabled; `systemd-analyze verify` and plistlib judge the files.
"""

import json
import os
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample import Said, call

from vault_memory.daemon import service
from vault_memory.daemon.service import ServiceTarget, Supervisor
from vault_memory.daemon.service import service_text as text
from vault_memory.errors import UsageError

ANALYZE = shutil.which("systemd-analyze")
PROGRAM = ("/usr/bin/env", "-i")
ODD = ["/home/you/Notes", "/a b/c", "/50% done/%h %%", "/$HOME/${x}/$$", "/it's so", "/<a>&amp;&b",
       "/é ü/日本", "/#;|*?", "/{{watch}}", "/-- x", "/ lead and trail ", "/~"]  # fmt: skip

paths = st.text(
    st.characters(
        min_codepoint=32, exclude_categories=("Cs", "Cc", "Zl", "Zp", "Cn"), exclude_characters='\ufffe\uffff"\\'
    )
).map("/v/".__add__)


def made(vault: str, program: tuple[str, ...] = PROGRAM, **environment: str) -> ServiceTarget:
    return ServiceTarget(Path(vault), program, tuple(environment.items()))


# --- systemd ---------------------------------------------------------------------------------------------------------


def line(text: str, key: str) -> str:
    (found,) = re.findall(rf"^{key}=(.*)$", text, re.M)
    return str(found)


@given(paths)
def test_systemd_reads_back_what_was_meant(vault: str) -> None:
    unit = text("systemd", made(vault, XDG_DATA_HOME=vault))
    program, *arguments = re.findall(r'"([^"]*)"', line(unit, "ExecStart"))
    assert not any("$" in word.replace("$$", "") for word in arguments)
    words = [program, *(word.replace("$$", "$") for word in arguments)]
    assert [specified(word) for word in words] == [*PROGRAM, "--vault", str(Path(vault)), "watch"]
    assert specified(line(unit, "Environment")) == f'"XDG_DATA_HOME={vault}"'
    assert specified(line(unit, "Description")) == f"Memory of {Path(vault)}, kept up to date"


def specified(word: str) -> str:
    """A word as systemd.unit(5) reads it: `%%` is `%`, and any other `%` would stand for something else."""
    assert "%" not in word.replace("%%", "")
    return word.replace("%%", "%")


@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not on this system")
@pytest.mark.parametrize("vault", ODD)
def test_systemd_itself_finds_nothing_wrong(vault: str, tmp_path: Path) -> None:
    program = tmp_path / "bin $x %h/memory"
    program.parent.mkdir()
    shutil.copy("/bin/true", program)
    of = made(vault, (str(program),), XDG_DATA_HOME=vault)
    unit, file = text("systemd", of), Supervisor("systemd", of, {"XDG_CONFIG_HOME": str(tmp_path)}).file
    file.parent.mkdir(parents=True)
    file.write_text(unit, "utf-8")
    done = verify(file, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    broken = file.with_name("broken.service")
    broken.write_text(unit.replace("bin $x", "bin $$x").replace("Restart=", "Restat="), "utf-8")
    assert "Restat" in verify(broken, tmp_path).stderr  # it does look


def verify(file: Path, runtime: Path) -> "subprocess.CompletedProcess[str]":
    environ = os.environ | {"XDG_RUNTIME_DIR": str(runtime), "SYSTEMD_LOG_LEVEL": "warning", "LC_ALL": "C.UTF-8"}
    command = [str(ANALYZE), "verify", "--user", "--man=no", str(file)]
    return subprocess.run(command, capture_output=True, text=True, env=environ, timeout=60, check=False)


# --- launchd ---------------------------------------------------------------------------------------------------------


@given(paths)
def test_launchd_reads_back_what_was_meant(vault: str) -> None:
    of = made(vault, XDG_DATA_HOME=vault)
    daemon = plistlib.loads(text("launchd", of).encode())
    assert daemon["ProgramArguments"] == [*PROGRAM, "--vault", str(Path(vault)), "watch"]
    assert (daemon["Label"], daemon["EnvironmentVariables"]) == (of.name, {"XDG_DATA_HOME": vault})
    assert (daemon["RunAtLoad"], daemon["KeepAlive"]) == (True, {"SuccessfulExit": False})


# --- cron ------------------------------------------------------------------------------------------------------------


@given(paths)
def test_cron_and_the_shell_read_back_what_was_meant(vault: str) -> None:
    (row,) = (row for row in text("cron", made(vault, XDG_DATA_HOME=vault)).splitlines() if not row.startswith("#"))
    assert row.startswith("@reboot ")
    assert "%" not in row.replace("\\%", "")  # cron would end the command there
    assert shlex.split(row.split(" ", 1)[1].replace("\\%", "%")) == [
        f"XDG_DATA_HOME={vault}", *PROGRAM, "--vault", str(Path(vault)), "watch",
    ]  # fmt: skip


# --- all of them -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", service.KINDS)
@pytest.mark.parametrize("sign", ["\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\u2028", "\udcff", "\ufffe", '"', "\\"])
def test_a_path_that_a_format_reads_in_its_own_way_is_refused(kind: str, sign: str) -> None:
    with pytest.raises(UsageError, match="cannot name this path"):
        text(kind, made(f"/a{sign}b"))


@pytest.mark.parametrize("kind", ["systemd", "launchd"])
def test_our_files_are_known_and_an_edit_is_seen(kind: str) -> None:
    ours = text(kind, made("/a vault-memory sha=0123456789ab"))
    assert service.is_ours(ours) and service.is_sealed(ours)
    for edited in (ours + "\n", ours[:-1], ours.replace("/a vault", "/b vault")):
        assert service.is_ours(edited) and not service.is_sealed(edited)
    assert not service.is_ours(ours.replace(" vault-memory sha=", " sha=", 1))
    assert not service.is_ours("") and not service.is_ours("[Unit]\nDescription=mine\n")


def test_the_users_folders_go_along_where_they_are_not_the_usual_ones() -> None:
    environ = {
        "HOME": "/home/you",
        "XDG_CONFIG_HOME": "/home/you/.config",
        "XDG_DATA_HOME": "/data",
        "XDG_STATE_HOME": "x",
    }
    assert service.target(Path("/v"), environ).environment == (("XDG_DATA_HOME", "/data"),)


def test_the_program_is_the_script_that_runs_or_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "memory"
    script.write_text("#!/bin/sh\n", "utf-8")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["memory"])
    assert service.program() == (str(script),)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "__main__.py")])
    assert service.program() == (os.path.abspath(sys.executable), "-m", "vault_memory")


# --- installing ------------------------------------------------------------------------------------------------------

SYSTEMCTL = """#!/bin/sh
echo "systemctl $*" >> "$FAKE/calls"
[ -e "$FAKE/away" ] && { echo "Failed to connect to bus: No medium found" >&2; exit 1; }
units="$XDG_CONFIG_HOME/systemd/user"
shift
verb=$1; shift
case $verb in
  is-enabled) [ -e "$units/default.target.wants/$1" ] && echo enabled || { echo disabled; exit 1; } ;;
  is-active) [ -e "$FAKE/$1" ] && echo active || { echo inactive; exit 3; } ;;
  restart) : > "$FAKE/$1" ;;
  enable) mkdir -p "$units/default.target.wants"
    for unit; do [ -e "$units/$unit" ] || exit 1
      ln -sf "$units/$unit" "$units/default.target.wants/$unit"; done ;;
  disable) shift
    for unit; do rm -f "$units/default.target.wants/$unit" "$FAKE/$unit"; done ;;
esac
"""

LAUNCHCTL = """#!/bin/sh
echo "launchctl $*" >> "$FAKE/calls"
case $1 in
  print) [ -e "$FAKE/${2##*/}" ] && echo "	state = running" || { echo "Could not find service" >&2; exit 113; } ;;
  bootstrap) name=${3##*/}; : > "$FAKE/${name%.plist}" ;;
  bootout) rm "$FAKE/${2##*/}" ;;
esac
"""


class ServiceUser:
    """A user with a vault, and programs on the path that only take notes."""

    def __init__(self, folder: Path) -> None:
        self.home, self.fake, self.bin = folder / "home", folder / "fake", folder / "bin"
        self.vault = self.home / "Anna's notes"
        for made in (self.vault, self.fake, self.bin):
            made.mkdir(parents=True)
        for name, script in (("systemctl", SYSTEMCTL), ("launchctl", LAUNCHCTL)):
            (self.bin / name).write_text(script, "utf-8")
            (self.bin / name).chmod(0o755)
        self.name = ServiceTarget(self.vault, PROGRAM).name

    def run(self, *arguments: str, kind: str = "systemd") -> Said:
        return call("--vault", str(self.vault), "service", *arguments, "--kind", kind)

    def calls(self) -> list[str]:
        """What was called since the last look, questions left out."""
        file = self.fake / "calls"
        found = file.read_text("utf-8").splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return [row for row in found if not re.search(r" (is-\w+|print) ", row)]

    def files(self) -> Mapping[str, bytes]:
        """Everything in the user's folder but the vault."""
        found = (path for path in self.home.rglob("*") if not path.is_relative_to(self.vault))
        return {str(path.relative_to(self.home)): b"" if path.is_dir() else path.read_bytes() for path in found}

    def units(self) -> Path:
        return self.home / ".config/systemd/user"


@pytest.fixture
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServiceUser]:
    if sys.platform == "win32":
        pytest.skip("the scripts that stand for systemctl and launchctl need sh")
    owner = ServiceUser(tmp_path)
    monkeypatch.setenv("HOME", str(owner.home))
    for name, folder in {"CONFIG": ".config", "DATA": ".local/share", "STATE": ".local/state"}.items():
        monkeypatch.setenv(f"XDG_{name}_HOME", str(owner.home / folder))
    monkeypatch.setenv("PATH", f"{owner.bin}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("FAKE", str(owner.fake))
    yield owner
    assert not list(owner.vault.iterdir())  # a guest in the vault


def test_install_writes_starts_and_says_so_and_again_changes_nothing(owner: ServiceUser) -> None:
    name = owner.name
    said = owner.run("install")
    assert (said.code, said.out) == (0, f"wrote {owner.units() / name}.service\n")
    words = "daemon-reload", f"enable {name}.service", f"restart {name}.service"
    assert owner.calls() == [f"systemctl --user {each}" for each in words]
    assert {file.stat().st_mode & 0o777 for file in owner.units().glob("vault-memory-*")} == {0o600}
    before = owner.files()
    assert owner.run("install").out == "Nothing changed.\n"
    assert owner.calls() == [] and owner.files() == before


def test_status_says_what_there_is(owner: ServiceUser) -> None:
    assert owner.run("status").out.count("not installed") == 1
    owner.run("install")
    said = owner.run("status")
    assert said.out.splitlines()[0] == f"vault  {owner.vault}"
    assert said.out.count("installed, enabled, active") == 1
    document = json.loads(owner.run("status", "--json").out)
    assert (document["schema"], document["kind"], document["vault"]) == (
        "vault-memory/service@1", "systemd", str(owner.vault))  # fmt: skip
    unit = f"{owner.name}.service"
    assert document["units"][0] == {"name": unit, "path": str(owner.units() / unit),
                                    "installed": True, "edited": False, "enabled": True, "active": True}  # fmt: skip
    (owner.fake / "away").touch()
    document = json.loads(owner.run("status", "--json").out)
    assert (document["units"][0]["enabled"], document["units"][0]["active"]) == (None, None)
    assert owner.run("status").out.count("installed, cannot tell here whether it is running") == 1


@pytest.mark.parametrize("kind", ["systemd", "launchd"])
def test_uninstall_leaves_nothing(owner: ServiceUser, kind: str) -> None:
    before = owner.files()
    owner.run("install", kind=kind)
    owner.calls()
    said = owner.run("uninstall", kind=kind)
    assert said.code == 0 and said.out.count("deleted ") == 1
    left = set(owner.files()) - set(before)
    assert left <= {".config", "Library", "Library/LaunchAgents"}
    assert [path.name for path in owner.fake.iterdir()] == ["calls"]  # nothing enabled or running
    assert owner.calls()[0].startswith(("systemctl --user disable --now", "launchctl bootout"))
    assert owner.run("uninstall", kind=kind).out == "Nothing changed.\n"


def test_other_units_and_links_of_the_user_stay(owner: ServiceUser) -> None:
    wants = owner.units() / "default.target.wants"
    wants.mkdir(parents=True)
    (owner.units() / "mine.service").write_text("[Unit]\n", "utf-8")
    (wants / "mine.service").symlink_to(owner.units() / "mine.service")
    before = owner.files()
    owner.run("install")
    owner.run("uninstall")
    assert owner.files() == before


def test_a_file_that_was_edited_is_left_alone_until_uninstall(owner: ServiceUser) -> None:
    owner.run("install")
    file = owner.units() / f"{owner.name}.service"
    file.write_text(file.read_text("utf-8").replace("RestartSec=", "RestartSec=9"), "utf-8")
    before = owner.files()
    said = owner.run("install")
    assert said.code == 5 and f"{file} was edited" in said.err and "memory service uninstall" in said.err
    assert owner.files() == before
    assert "edited" in owner.run("status").out
    assert owner.run("uninstall").code == 0 and not file.exists()
    assert owner.run("install").code == 0


@pytest.mark.parametrize("link", [False, True])
def test_a_file_of_someone_else_is_neither_replaced_nor_deleted(owner: ServiceUser, link: bool) -> None:
    owner.units().mkdir(parents=True)
    file = owner.units() / f"{owner.name}.service"
    if link:
        file.symlink_to("/dev/null")  # as `systemctl --user mask` does
    else:
        file.write_text("[Unit]\nDescription=mine\n", "utf-8")
    before = owner.files()
    said = owner.run("install")
    assert said.code == 5 and "was not made by this program" in said.err
    assert owner.run("uninstall").out == "Nothing changed.\n"
    assert owner.files() == before


def test_a_file_of_an_earlier_version_is_written_anew_and_its_nightly_ones_go(owner: ServiceUser) -> None:
    owner.run("install")
    unit = owner.units() / f"{owner.name}.service"
    former = [unit.with_name(f"{owner.name}-nightly{ending}") for ending in (".service", ".timer")]
    for file in (unit, *former):
        rest = "[Service]\n"
        file.write_text(f"# {service.seal(rest, 'memory service install')}\n{rest}", "utf-8")
    owner.calls()
    assert owner.run("install").out.splitlines() == [f"wrote {unit}", *(f"deleted {file}" for file in former)]
    assert owner.calls()[-1] == f"systemctl --user restart {unit.name}"
    assert [file.name for file in owner.units().glob("vault-memory-*")] == [unit.name]


def test_without_a_session_it_says_what_was_written_and_what_to_run(owner: ServiceUser) -> None:
    (owner.fake / "away").touch()
    said = owner.run("install")
    assert said.code == 1 and "Traceback" not in said.err
    assert f"Written: {owner.units() / owner.name}.service" in said.err and "No medium found" in said.err
    assert f"systemctl --user enable {owner.name}.service && systemctl --user restart {owner.name}.service" in said.err
    (owner.fake / "away").unlink()
    assert owner.run("install").out == "Nothing changed.\n"  # to the files; but it is started now
    assert owner.run("status").out.count("enabled, active") == 1
    (owner.fake / "away").touch()
    said = owner.run("uninstall")
    assert said.code == 1 and "was not stopped" in said.err
    assert not owner.units().exists()


def test_launchd_is_asked_to_load_and_to_load_again_what_changed(owner: ServiceUser) -> None:
    assert owner.run("install", kind="launchd").code == 0
    domain, agents = f"gui/{os.getuid()}", owner.home / "Library/LaunchAgents"
    assert owner.calls() == [f"launchctl bootstrap {domain} {agents / owner.name}.plist"]
    assert owner.run("install", kind="launchd").out == "Nothing changed.\n" and owner.calls() == []
    head, rest = "<?xml?>\n", "<plist/>\n"
    (agents / f"{owner.name}.plist").write_text(f"{head}<!-- {service.seal(head + rest, 'x')} -->\n{rest}")
    owner.run("install", kind="launchd")
    assert owner.calls() == [
        f"launchctl bootout {domain}/{owner.name}",
        f"launchctl bootstrap {domain} {agents / owner.name}.plist",
    ]
    assert owner.run("status", kind="launchd").out.count("installed, enabled, active") == 1


@pytest.mark.parametrize("kind", service.KINDS)
@pytest.mark.parametrize("action", ["install", "uninstall", "status"])
def test_print_writes_nothing_and_starts_nothing(owner: ServiceUser, action: str, kind: str) -> None:
    before = owner.files()
    for more in ((), ("--json",)):
        said = owner.run(action, "--print", *more, kind=kind)
        assert said.code == 0 and said.out
    assert owner.files() == before and owner.calls() == []


def test_an_absent_vault_can_be_uninstalled_and_not_installed(owner: ServiceUser) -> None:
    owner.run("install")
    moved = owner.vault.rename(owner.vault.with_name("moved"))
    assert owner.run("install").code == 3
    assert owner.run("uninstall").out.count("deleted") == 1
    moved.rename(owner.vault)
