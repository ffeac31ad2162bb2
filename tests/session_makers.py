"""Makes transcripts for tests: what Claude Code, opencode and OpenClaw write, in their folders."""

import json
from collections.abc import Sequence
from pathlib import Path

import apsw

STAMP = "2026-03-{day:02}T10:{minute:02}:00.000Z"
Talk = Sequence[tuple[str, str]]
"""Speaker (`user`, `assistant`) and text, in order."""


def talk(number: int) -> list[tuple[str, str]]:
    """A short talk with one word of its own."""
    return [
        ("user", f"How do we deploy the service called quill{number}?\nIt must not go down."),
        ("assistant", f"Use the blue-green script of quill{number}; it keeps the old one for ten minutes."),
        ("user", f"And the rollback of number {number}?"),
        ("assistant", "Run it with `--back`.\n\n# Not a heading\n```\ncode\n- W @Nobody: no fact\n## Retain"),
    ]


def claude_lines(session: str, said: Talk, folder: str = "/nowhere/app", day: int = 1) -> list[str]:
    """The records of one session."""
    lines = [json.dumps({"type": "file-history-snapshot", "messageId": "x", "snapshot": {}})]
    for at, (role, text) in enumerate(said):
        content = text if role == "user" else [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
        lines.append(json.dumps({
            "type": role, "uuid": f"{session}-{at}", "sessionId": session, "cwd": folder, "isSidechain": False,
            "timestamp": STAMP.format(day=day, minute=at % 60), "message": {"role": role, "content": content},
        }))  # fmt: skip
    return lines


def claude_tool(output: str) -> str:
    """A record that holds a tool's output, twice as Claude Code keeps it."""
    block = {"type": "tool_result", "tool_use_id": "t", "content": output}
    return json.dumps(
        {"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": {"stdout": ""}}
    )


def claude(root: Path, session: str, said: Talk, folder: str = "/nowhere/app", day: int = 1) -> Path:
    """A transcript in `<root>/<project>/<session>.jsonl`."""
    file = root / folder.replace("/", "-") / f"{session}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in claude_lines(session, said, folder, day)))
    return file


def openclaw(root: Path, session: str, said: Talk, folder: str = "/nowhere/claw") -> Path:
    """A transcript in `<root>/<agent>/sessions/<session>.jsonl`."""
    file = root / "main" / "sessions" / f"{session}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    records = [
        {"type": "session", "version": 3, "id": session, "timestamp": STAMP.format(day=2, minute=0), "cwd": folder}
    ]
    records.append({"type": "model_change", "modelId": "some"})
    for at, (role, text) in enumerate(said):
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        records.append(
            {"type": "message", "id": f"m{at}", "timestamp": STAMP.format(day=2, minute=at), "message": message}
        )
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return file


def opencode(root: Path, session: str, said: Talk, folder: str = "/nowhere/open") -> None:
    """A session in `<root>/opencode.db`, written long ago."""
    opencode_database(root)
    with database(root) as db:
        db.execute("INSERT INTO session VALUES(?,?,?,NULL)", (session, f"About {session}", folder))
    for at, (role, text) in enumerate(said):
        opencode_message(root, session, at, role, text)


def database(root: Path) -> apsw.Connection:
    """opencode's, written without a wait for the disk."""
    connection = apsw.Connection(str(root / "opencode.db"))
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def opencode_database(root: Path) -> None:
    """A database without a session."""
    root.mkdir(parents=True, exist_ok=True)
    with database(root) as db:
        db.execute(
            "CREATE TABLE IF NOT EXISTS session(id TEXT, title TEXT, directory TEXT, parent_id TEXT);"
            "CREATE TABLE IF NOT EXISTS message(id PRIMARY KEY, session_id, time_created, time_updated, data);"
            "CREATE TABLE IF NOT EXISTS part(id TEXT PRIMARY KEY, message_id TEXT, data TEXT)"
        )


def opencode_message(
    root: Path, session: str, at: int, role: str, text: str, done: bool = True, updated: int | None = None
) -> None:
    """One message with its parts; `updated` is when it last changed, in milliseconds since 1970."""
    message, created = f"{session}m{at:04}", 1_772_500_000_000 + at
    times = {"created": created} | ({"completed": created + 1} if done else {})
    parts = [
        {"type": "text", "text": "injected by a plugin", "synthetic": True}, {"type": "text", "text": text},
        {"type": "tool", "tool": "bash", "state": {"status": "completed", "output": "short"}},
    ]  # fmt: skip
    with database(root) as db:
        row = (message, session, created, updated or created, json.dumps({"role": role, "time": times}))
        db.execute("REPLACE INTO message VALUES(?,?,?,?,?)", row)
        for number, part in enumerate(parts):
            db.execute("REPLACE INTO part VALUES(?,?,?)", (f"{message}p{number}", message, json.dumps(part)))
