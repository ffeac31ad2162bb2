"""Adds to the user's own settings: a key or an item of a list goes in, and every other byte of the file stays. Pure."""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from vault_memory.errors import RefusedError


def add_setting(text: str, table: str, key: str, value: bool | str | Sequence[str]) -> str:
    """A TOML text with `table.key` set, or with the items that its list lacks; another value there stays.

    Raises RefusedError where the file's form leaves no place for it.
    """
    tree = tomllib.loads(text)
    keys = tree.get(table, {})
    there = keys.get(key) if isinstance(keys, dict) else None
    missing = [] if isinstance(value, str | bool) else [item for item in value if item not in (there or ())]
    wanted = value if isinstance(value, str | bool) else [*missing, *(there or ())]
    if there is not None and not missing:
        return text
    for candidate in _candidates(text, table, key, wanted if there is None else missing, is_new=there is None):
        try:
            read = tomllib.loads(candidate)
        except tomllib.TOMLDecodeError:
            continue
        if isinstance(keys, dict) and read == tree | {table: keys | {key: wanted}}:
            return candidate
    line = f"{key} = {_written(wanted)}"
    raise RefusedError(f"`{table}.{key}` cannot be added to your settings.", f"Write `{line}` into [{table}] yourself.")


def _candidates(text: str, table: str, key: str, value: Any, is_new: bool) -> Iterator[str]:  # noqa: ANN401
    """The text with the value in each place where it may belong: what it then means decides."""
    end = "\r\n" if "\r\n" in text else "\n"
    if not is_new:
        for list_start in re.finditer(rf"^[ \t]*(?:{table}\.)?{key}[ \t]*=[ \t]*\[", text, re.MULTILINE):
            at = list_start.end()
            items = _written(value)[1:-1]
            yield f"{text[:at]}{items}{text[at:]}"
            yield f"{text[:at]}{items}, {text[at:]}"
        return
    line = f"{key} = {_written(value)}{end}"
    for header in re.finditer(rf"^[ \t]*\[[ \t]*{table}[ \t]*\][^\r\n]*(?:\r?\n|\Z)", text, re.MULTILINE):
        head = header[0] if header[0].endswith("\n") else f"{header[0]}{end}"
        yield f"{text[: header.start()]}{head}{line}{text[header.end() :]}"
    gap = end if text.strip() else ""
    yield f"{text}{'' if text.endswith(end) or not text else end}{gap}[{table}]{end}{line}"
    yield f"{table}.{line}{text}"


def _written(value: Any) -> str:  # noqa: ANN401
    """A text, a flag or a list of texts as TOML, which writes them as JSON does."""
    return json.dumps(value, ensure_ascii=False)
