"""Golden transcripts: what the command line says, word for word, over a copy of the sample vault.

Each file of `transcripts/` is one sitting: a user whose home folder is `/home/you`, working in `~/Notes`.

    -- a remark
    $ memory get memory.md#L1        a command; `cd`, `NAME=value` in front and shell commands work too
    < text                           a line of its standard input
    # Memory                         what it printed
    2> a sentence                    … on standard error
    \\-- - W: gone                   … a line of it that would be read as one of these (a diff's)
    [exit 2]                         its exit code, where it is not 0

`pytest tests/cli/test_transcripts.py --update-transcripts` writes them anew; read the difference before you keep it.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sample import Said, at_home, call, working_in

FOLDER = Path(__file__).parent / "transcripts"
OWN_PROCESS = "-- Each command is a process of its own."

VOLATILE = (
    # what is measured
    (r"read in [\d.]+ s", "read in 0.0 s"),
    (r'"(seconds|ratio)": [\d.e-]+', r'"\1": 0.0'),
    (r"[\d.]+ MB", "0.0 MB"),
    (r'"bytes": \d+', '"bytes": 0'),
    (r'"day": "[\d-]+"', '"day": "<today>"'),
    # what differs from one machine or release (of click, too) to the next
    (r"Try '(.*) -h' for help", r"Try '\1 --help' for help"),
    (r"\[COMMAND\] \[ARGS\]", "COMMAND [ARGS]"),
    (r"version \d[\w.+]*", "version X"),
    (r"v[\d.]+ in SQLite [\d.]+", "vX in SQLite X"),
    (r"(?<=vault-memory-)[0-9a-f]{12}", "<vault>"),
    (r"(?<=vault-memory sha=)[0-9a-f]{12}", "<hash>"),
    (r"(?<= gui/)\d+", "501"),
    (r"\b\d{8}T\d{6}\.\d{6}Z-\w+-(?=[a-z])", "<time>-<device>-"),
    (r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d  (?=[a-z])", "<time>  "),
    (r"(?m)^(Undo of .*), \d{4}-\d\d-\d\d \d\d:\d\d:", r"\1, <time>:"),
    (r"gate 0\.\d\d", "gate 0.00"),
    (r"forgotten on \d{4}-\d\d-\d\d", "forgotten on <today>"),
    (re.escape(os.path.abspath(sys.executable)), "/usr/bin/python3"),
    # what any change of a note or of the ranking changes
    (r"digest [0-9a-f]{12}", "digest <digest>"),
    (r'(digest": )"[0-9a-f]+"', r'\1"<digest>"'),
    (r"[\d,]+ too weak", "N too weak"),
    (r"\d+\. [\d.]+ \{.*\}", "N. 0.000 {…}"),
    (r'"(score|lexical|semantic|entity|temporal|over_k|over_budget|near_duplicates|weak)": [\d.e-]+', r'"\1": 0'),
    (r'"(passages|words|embedded|from_cache|vectors)": [1-9]\d*', r'"\1": N'),
    (r"[\d,]+ (passages|words|of builtin)", r"N \1"),
    (r"[\d,]+ (more match|more did not fit|near-dup)", r"N \1"),
    (r"[\d.]+ × the size", "0.0 × the size"),
)
"""What no two runs share, and what stands for it."""


STEP = re.compile(r"^(?:-- .*\n)*\$ (?P<command>.*)\n(?P<stdin>(?:< .*\n)*)", re.M)
"""One command of a transcript, with the remarks before it and its standard input; what it printed is left out."""


class Sitting:
    """Runs the commands of one transcript, one after the other."""

    def __init__(self, home: Path, own_process: bool) -> None:
        self._home, self._own_process = home, own_process
        self._folder = home / "Notes"

    def run(self, step: re.Match[str]) -> str:
        """The step as it is written down: remarks, command, input, what it printed, exit code."""
        said = self._said(step["command"], re.sub("^< ", "", step["stdin"], flags=re.M).encode())
        lines = self._plain(said.out) + [f"2> {line}" for line in self._plain(said.err)]
        lines += [f"[exit {said.code}]"] if said.code else []
        return "\n" + step[0] + "".join(f"{line}\n" for line in lines)

    def _said(self, command: str, stdin: bytes) -> Said:
        words = [re.sub(r"^~(?=/|$)", str(self._home), word) for word in shlex.split(command)]
        if words[0] == "cd":
            self._folder = Path(os.path.normpath(self._folder / words[1]))
            return Said(0, "", "")
        more = dict(word.split("=", 1) for word in words[: words.index("memory")]) if "memory" in words else {}
        with at_home(self._home, more), working_in(self._folder):
            if "memory" not in words:
                return _process(["sh", "-c", command], stdin)
            arguments = words[len(more) + 1 :]
            if self._own_process:
                return _process([sys.executable, "-m", "vault_memory", *arguments], stdin)
            return call(*arguments, stdin=stdin)

    def _plain(self, text: str) -> list[str]:
        """Lines fit to be compared anywhere: JSON spread out, the home folder `/home/you`, nothing volatile."""
        text = "\n".join(_spread(line) for line in text.split("\n"))
        text = text.replace(str(self._home), "/home/you")
        for pattern, instead in VOLATILE:
            text = re.sub(pattern, instead, text)
        lines = text.removesuffix("\n").split("\n") if text else []
        return [("\\" if line.startswith(("-- ", "$ ", "< ", "2> ")) else "") + line.rstrip() for line in lines]


def _process(command: list[str], stdin: bytes) -> Said:
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False)
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def _spread(line: str) -> str:
    if not line.startswith('{"schema"'):
        return line
    document = json.loads(line)
    for result in document.get("results", ()):
        if "why" in result:
            result["why"] = dict.fromkeys(sorted(result["why"]), 0)
    text = json.dumps(document, indent=2)
    return re.sub(r"\[\s+([^][{}]{0,90}?)\s+\]", lambda m: "[" + re.sub(r",\s+", ", ", m[1]) + "]", text)


@pytest.mark.skipif(sys.platform == "win32", reason="paths and shell commands in transcripts are POSIX")
@pytest.mark.parametrize("name", sorted(file.stem for file in FOLDER.glob("*.txt")))
def test_the_command_line_says_what_was_agreed(
    name: str, indexed_sample: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    shutil.copytree(indexed_sample, tmp_path / "Notes")
    file = FOLDER / f"{name}.txt"
    agreed = file.read_text("utf-8")
    sitting = Sitting(tmp_path, own_process=OWN_PROCESS in agreed)
    said = "".join(map(sitting.run, STEP.finditer(agreed))).lstrip("\n")
    if request.config.getoption("--update-transcripts"):
        file.write_text(said, "utf-8")
    else:
        assert said == agreed
