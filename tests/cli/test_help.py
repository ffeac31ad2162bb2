"""Help and manual agree: each command and option is documented, what is documented exists, and every example parses."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from sample import SAMPLE

from vault_memory.cli import COMMANDS, group

ROOT = SAMPLE.parent
GUIDE = SAMPLE / "Guide"
MANUAL = (GUIDE / "Commands.md").read_text("utf-8")
FENCE = re.compile(r"^```(?:bash|console)\n(.*?)^```", re.M | re.S)


def command(name: str) -> click.Command:
    found = group.get_command(click.Context(group), name)
    assert found
    return found


def options(of: click.Command) -> set[str]:
    """The option names of a command, the help option left out."""
    return {
        name for param in of.params if isinstance(param, click.Option) for name in (*param.opts, *param.secondary_opts)
    }


def sections() -> dict[str, str]:
    """The manual's text of each command; what stands before the first is under ""."""
    parts = re.split(r"^## (\S+)\n", MANUAL, flags=re.M)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def documented(section: str) -> set[str]:
    """The options in the first column of a section's table."""
    cells = re.findall(r"^\| ((?:`-[^`]*`(?:, )?)+) \|", section, re.M)
    return {name for cell in cells for name in re.findall(r"`(--?[\w-]+)", cell)}


SHARED = options(command("status"))
"""`status` has no options of its own."""


def test_the_manual_has_a_section_for_each_command_and_no_other() -> None:
    assert list(sections()) == ["", *COMMANDS]


def test_the_global_options_are_documented() -> None:
    assert documented(sections()[""]) == SHARED | {"-h", "--help"}
    assert options(group) == SHARED | {"--rebuild"}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_documented_and_each_documented_one_exists(name: str) -> None:
    assert options(command(name)) >= SHARED
    assert documented(sections()[name]) == options(command(name)) - SHARED
    assert command(name).help
    assert all(param.help for param in command(name).params if isinstance(param, click.Option))


# --- examples --------------------------------------------------------------------------------------------------------


def calls(text: str) -> Iterator[str]:
    """The calls of `memory` in the shell examples of a text, without comments, pipes and redirections."""
    for block in FENCE.findall(text):
        for line in re.sub(r"<<'END'.*?^END$", "", block, flags=re.M | re.S).splitlines():
            for part in line.removeprefix("$ ").split("&&"):
                if part.strip().startswith("memory "):
                    yield re.split(r" [|<>#] ?", part.strip())[0]


def parse(call: str) -> None:
    """Parse a call as the shell and the program do, and run nothing; raises click's UsageError."""
    words = shlex.split(call)
    assert words.pop(0) in ("memory", "vault-memory")
    name = next(word for word in words if word in COMMANDS)
    before = words[: words.index(name)]
    context = group.make_context("memory", [*before, name])
    command(name).make_context(name, words[len(before) + 1 :], parent=context)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_help_ends_with_an_example_that_parses(name: str) -> None:
    epilog = command(name).epilog or ""
    assert epilog.startswith(f"Example: memory {name}")
    parse(epilog.removeprefix("Example: "))


@pytest.mark.parametrize("file", [ROOT / "README.md", *sorted(GUIDE.glob("*.md"))], ids=lambda file: file.name)
def test_the_examples_of_the_manual_parse(file: Path) -> None:
    found = [call for call in calls(file.read_text("utf-8")) if call != "memory --rebuild"]
    assert found or file.name in ("From Python.md", "Settings.md", "Vault format.md", "Privacy and safety.md")
    for call in found:
        parse(call)


def test_the_readme_names_no_option_that_is_not() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    named = set(re.findall(r"(?<=[ `])(--[a-z-]+)", readme))
    assert named - {"--help"} <= {option for name in COMMANDS for option in options(command(name))}
    assert set(re.findall(r"`memory (\w+)", readme)) <= set(COMMANDS)
