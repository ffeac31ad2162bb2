"""Owns the making of transcripts for tests: what Claude Code, opencode and OpenClaw write, in their folders."""

import json
from collections.abc import Sequence
from pathlib import Path

import apsw
from vaults import age

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


def opencode(root: Path, session: str, said: Talk, folder: str = "/nowhere/open", project: str = "abc") -> Path:
    """A session in `<root>/storage`, as many small files, written a minute ago."""
    storage = root / "storage"
    info = {
        "id": session,
        "projectID": project,
        "directory": folder,
        "title": f"About {session}",
        "time": {"created": 1},
    }
    file = _json(storage / "session" / project / f"{session}.json", info)
    for at, (role, text) in enumerate(said):
        opencode_message(root, session, at, role, text)
    return file


def opencode_message(root: Path, session: str, at: int, role: str, text: str, done: bool = True) -> None:
    """One message with its parts."""
    storage, message = root / "storage", f"msg_{session}_{at:04}"
    times = {"created": 1_772_500_000_000 + at} | ({"completed": 1_772_500_000_001 + at} if done else {})
    _json(storage / "message" / session / f"{message}.json", {"id": message, "role": role, "time": times})
    parts = storage / "part" / message
    _json(parts / "prt_1.json", {"type": "text", "text": "injected by a plugin", "synthetic": True})
    _json(parts / "prt_2.json", {"type": "text", "text": text})
    _json(parts / "prt_3.json", {"type": "tool", "tool": "bash", "state": {"status": "completed", "output": "short"}})


def _json(file: Path, value: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, indent=2))
    age(file, 60)
    return file


def opencode_database(root: Path, session: str, said: Talk, folder: str = "/nowhere/open") -> None:
    """A session in `<root>/opencode.db`, as opencode keeps them since 1.2."""
    root.mkdir(parents=True, exist_ok=True)
    with apsw.Connection(str(root / "opencode.db")) as db:
        db.execute(
            "CREATE TABLE IF NOT EXISTS session(id TEXT, title TEXT, directory TEXT, parent_id TEXT);"
            "CREATE TABLE IF NOT EXISTS message(id, session_id, time_created, time_updated, data);"
            "CREATE TABLE IF NOT EXISTS part(id TEXT, message_id TEXT, data TEXT)"
        )
        db.execute("INSERT INTO session VALUES(?,?,?,NULL)", (session, f"About {session}", folder))
        for at, (role, text) in enumerate(said):
            created = 1_772_500_000_000 + at
            data = json.dumps({"role": role, "time": {"created": created, "completed": created}})
            db.execute("INSERT INTO message VALUES(?,?,?,?,?)", (f"{session}m{at}", session, created, created, data))
            part = json.dumps({"type": "text", "text": text})
            db.execute("INSERT INTO part VALUES(?,?,?)", (f"p{at}", f"{session}m{at}", part))
