"""Reads the YAML frontmatter of a note into flat properties; any content is safe. Pure."""

import re
import unicodedata
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from vault_memory.markdown.note import FRONT, Problem

if TYPE_CHECKING:
    from frontmatter.default_handlers import YAMLHandler

_GUARDED = re.compile(
    r"^[ \t\"'{?-]*(scopes?\b|by(?=[ \t\"']*:))|[{,][ \t\"']*(scopes?|by)(?=[ \t\"']*:)", re.IGNORECASE | re.MULTILINE
)
"""Keys that say who may see a note and who it is from: never dropped because of broken YAML."""

_BESIDE_LETTERS = re.compile(r"[\W_]+")

_YAML_HINT = "properties are ignored until it is fixed; the text is indexed"


def frontmatter(
    path: str, lines: list[str], states: bytearray, problems: list[Problem]
) -> tuple[Mapping[str, object], int]:
    """Read the YAML block at the top; returns the flat properties and the index of the first line after it."""
    if not lines or lines[0].rstrip() != "---":
        return _misplaced(path, lines, problems), 0
    end = next((i for i in range(1, len(lines)) if lines[i].rstrip() == "---"), None)
    if end is None:
        problems.append(Problem(path, 1, "frontmatter is never closed by ---: read as text"))
        return _unreadable("\n".join(lines)), 0
    states[: end + 1] = bytes([FRONT]) * (end + 1)
    block = "\n".join(lines[: end + 1])
    return (_load_yaml(path, block, problems) if any(map(str.strip, lines[1:end])) else {}), end + 1


def _load_yaml(path: str, block: str, problems: list[Problem]) -> Mapping[str, object]:
    """The properties of a block, given with its two lines of dashes."""
    import frontmatter as reader  # lazy: 30-60 ms, and recall parses no note
    from yaml import YAMLError

    try:
        loaded, _ = reader.parse(block, handler=_handler())
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or type(error).__name__
        line = mark.line + 2 if mark else 1
        if "{{" in block:  # a template: its placeholders are not YAML yet
            problems.append(Problem(path, line, "properties with a template's placeholder {{…}} are not read"))
        else:
            problems.append(Problem(path, line, f"broken YAML: {what}; {_YAML_HINT}", "warning"))
        return _unreadable(block)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        # The YAML loader constructs dates and numbers: 2025-13-45 is a ValueError, not a YAMLError.
        problems.append(Problem(path, 1, f"broken YAML: {error}; {_YAML_HINT}", "warning"))
        return _unreadable(block)
    if not loaded:
        problems.append(Problem(path, 1, "frontmatter is not a list of properties; read as text"))
        return _unreadable(block)
    flat = {str(key): _flat(value) for key, value in loaded.items()}
    for key, value in loaded.items():
        if isinstance(value, dict) and any(map(guarded, map(str, value))):
            problems.append(Problem(path, 1, f"what stands below `{key}` is not read: no scope, nor whom it is from"))
        if flat[str(key)] != value and guarded(str(key)):
            flat[str(key)] = "unreadable"
    return flat


@lru_cache(maxsize=1024)
def guarded(key: str) -> str:
    """The guarded property that a key stands for, `scope` or `by`, in any spelling; "" for any other key."""
    name = _BESIDE_LETTERS.sub("", unicodedata.normalize("NFKC", key).casefold())
    return {"scope": "scope", "scopes": "scope", "by": "by"}.get(name, "")


def _misplaced(path: str, lines: list[str], problems: list[Problem]) -> Mapping[str, object]:
    """What is kept of properties that do not start on line 1: only that they may have meant to restrict access."""
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if not lines or lines[first].strip() != "---":
        return {}
    end = next((i for i in range(first + 1, len(lines)) if lines[i].strip() == "---"), first)
    found = [match[1] for line in lines[first + 1 : end] if (match := _KEY.match(line)) and guarded(match[1])]
    if found:
        problems.append(Problem(path, first + 1, "properties are read only where --- is the very first line"))
    return {guarded(name): "unreadable" for name in found}


_KEY = re.compile(r"[ \t]*([^:]{1,40}):")
"""The key of a line that may be a property, indented or not."""


def _unreadable(block: str) -> Mapping[str, object]:
    """What is kept of unreadable properties: that the note names a scope or an origin."""
    named = {guarded(match[1] or match[2]) for match in _GUARDED.finditer(block)}
    return dict.fromkeys(sorted(named), "unreadable")


@lru_cache(maxsize=1)
def _handler() -> "YAMLHandler":
    """A YAML handler, using libyaml if available, without merge keys: ten lines of them take minutes and gigabytes."""
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    class FlatLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            seen = [name for key, _ in node.value if (name := guarded(str(key.value)))]
            if len(seen) > len(set(seen)):
                raise yaml.constructor.ConstructorError(None, None, f"two times `{max(seen)}`", node.start_mark)
            for key, _ in node.value:
                if key.tag == "tag:yaml.org,2002:merge":
                    raise yaml.constructor.ConstructorError(None, None, "merge keys (<<) are not read", key.start_mark)

    class FlatHandler(YAMLHandler):
        FM_BOUNDARY = re.compile(r"^---[^\S\n]*$", re.MULTILINE)

        def load(self, fm: str, **_: object) -> Any:  # noqa: ANN401 - as its parent says
            return super().load(fm.removeprefix("\n").removesuffix("\n"), Loader=FlatLoader)

    return FlatHandler()


_MAX_NUMBER_BITS = 4096
"""Python refuses to print integers of more than about 14,000 bits; no genuine property is one."""


def _flat(value: object) -> object:
    """Keep a scalar or a list of scalars; deeper YAML, which aliases can make exponentially large, is dropped."""
    if isinstance(value, list):
        return [item for item in value[:1000] if not isinstance(item, list) and _flat(item) is not None]
    if isinstance(value, int) and value.bit_length() > _MAX_NUMBER_BITS:
        return None
    return value if isinstance(value, str | int | float | date) else None


def texts(value: object) -> list[str]:
    """A property as a list of strings: a list's items, or a single string split at commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list):
        return [str(item).strip() for item in value if item is not None and str(item).strip()]
    return [] if value is None else [str(value)]
