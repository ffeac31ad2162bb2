"""Owns the settings: file, environment and flags become one frozen Config; every problem is reported at once.

It knows where settings come from and which of them a vault may set; it does not read notes. What a value may be says
`checks`.
Law 8: a vault may come from anywhere, so what names paths, endpoints, keys or programs is taken from the user's own
file, the environment or flags only; the same key inside a vault is ignored and kept in `Config.ignored` for doctor.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory import checks, folders
from vault_memory.choices import PRESETS, TOOLS
from vault_memory.errors import UsageError, VaultError

ENVIRONMENT = "environment"

TABLES = ("scopes.", "projects.")
"""What the keys of those tables begin with whose names are folders (tables.py)."""


@dataclass(frozen=True)
class Config:
    """All settings of one run; paths are absolute.

    `ignored` holds one sentence for each key that a vault tried to set and may not, `unknown` one for each of its keys
    that is no setting; `sources` the files that were read.
    """

    vault: Path
    index_path: Path | None = None
    daily_folder: str | None = None
    daily_format: str | None = None
    ignore: tuple[str, ...] = ()
    chunk_tokens: int = 400
    chunk_overlap: int = 80
    recall_k: int = 8
    recall_budget: int = 2000
    recall_preset: str = "tuned"
    journal: bool = True
    core_files: tuple[str, ...] = ()
    embedding_provider: str = "builtin"
    embedding_model: str = ""
    embedding_url: str = ""
    embedding_key_env: str = ""
    embedding_batch: int = 32
    embedding_timeout_seconds: float = 60.0
    embedding_query_deadline_seconds: float = 0.5
    embedding_keep_alive: str = "30m"
    embedding_query_prefix: str | None = None
    embedding_document_prefix: str | None = None
    embedding_context_tokens: int = 0
    rerank_provider: str = "off"
    rerank_model: str = ""
    rerank_url: str = ""
    rerank_deadline_seconds: float = 5.0
    reflect_at: str = "03:30"
    reflect_entity_days: int = 2
    reflect_provider: str = "off"
    reflect_model: str = ""
    reflect_url: str = ""
    reflect_key_env: str = ""
    reflect_deadline_seconds: float = 60.0
    reflect_run_deadline_seconds: float = 600.0
    mcp_edit: bool = False
    folder_scopes: tuple[tuple[str, str], ...] = ()
    """Folders of the vault (scopes.folder_key) and the scope of what lies in them."""
    projects: tuple[tuple[str, str], ...] = ()
    """Absolute folders of the user's and the scope of the project that they belong to."""
    hooks_seconds: float = 2.0
    hooks_budget: int = 2000
    sessions_tools: tuple[str, ...] = ()
    sessions_claude_code: Path | None = None
    sessions_opencode: Path | None = None
    sessions_openclaw: Path | None = None
    roots: tuple[tuple[Path, str], ...] = ()
    roots_under: tuple[Path, ...] = ()
    ignored: tuple[str, ...] = field(default=(), compare=False)
    unknown: tuple[str, ...] = field(default=(), compare=False)
    sources: tuple[str, ...] = field(default=(), compare=False)


class Problem(NamedTuple):
    """A mistake in the settings: the file it stands in or `environment`, and what is wrong."""

    where: str
    what: str


class Setting(NamedTuple):
    """One key of a settings file: the Config field it fills, how it is checked, and whether a vault may set it."""

    name: str
    check: Callable[[Any], Any]
    vault_may_set: bool = True


SETTINGS: Mapping[str, Setting] = {
    "vault": Setting("vault", checks.path, vault_may_set=False),
    "vault.path": Setting("vault", checks.path, vault_may_set=False),  # the same, beside a table [vault]
    "index.path": Setting("index_path", checks.path, vault_may_set=False),
    "vault.daily_folder": Setting("daily_folder", checks.text),
    "vault.daily_format": Setting("daily_format", checks.text),
    "vault.ignore": Setting("ignore", checks.texts),
    "chunk.tokens": Setting("chunk_tokens", checks.between(50, 8000)),
    "chunk.overlap": Setting("chunk_overlap", checks.between(0, 4000)),
    "recall.k": Setting("recall_k", checks.between(1, 1000)),
    "recall.budget": Setting("recall_budget", checks.between(1, 1_000_000)),
    "recall.preset": Setting("recall_preset", checks.one_of(*PRESETS)),
    "recall.journal": Setting("journal", checks.flag),
    "hooks.seconds": Setting("hooks_seconds", checks.seconds(0.1, 60), vault_may_set=False),
    "hooks.budget": Setting("hooks_budget", checks.between(1, 1_000_000), vault_may_set=False),
    "core.files": Setting("core_files", checks.notes_inside),
    "mcp.edit": Setting("mcp_edit", checks.flag, vault_may_set=False),
    "reflect.entity_days": Setting("reflect_entity_days", checks.between(1, 365)),
    "reflect.at": Setting("reflect_at", checks.time_of_day),
    "reflect.provider": Setting(
        "reflect_provider", checks.one_of("off", "ollama", "openai", "anthropic"), vault_may_set=False
    ),
    "reflect.model": Setting("reflect_model", checks.text, vault_may_set=False),
    "reflect.url": Setting("reflect_url", checks.url, vault_may_set=False),
    "reflect.key_env": Setting("reflect_key_env", checks.variable, vault_may_set=False),
    "reflect.deadline_seconds": Setting("reflect_deadline_seconds", checks.seconds(0.1, 3600), vault_may_set=False),
    "reflect.run_deadline_seconds": Setting(
        "reflect_run_deadline_seconds", checks.seconds(0.1, 86_400), vault_may_set=False
    ),
    "sessions.tools": Setting("sessions_tools", checks.some_of(*TOOLS), vault_may_set=False),
    "sessions.claude_code": Setting("sessions_claude_code", checks.path, vault_may_set=False),
    "sessions.opencode": Setting("sessions_opencode", checks.path, vault_may_set=False),
    "sessions.openclaw": Setting("sessions_openclaw", checks.path, vault_may_set=False),
    "roots.vaults": Setting("roots", checks.roots, vault_may_set=False),
    "roots.under": Setting("roots_under", checks.paths, vault_may_set=False),
    "embedding.provider": Setting(
        "embedding_provider", checks.one_of("builtin", "ollama", "openai"), vault_may_set=False
    ),
    "embedding.model": Setting("embedding_model", checks.text, vault_may_set=False),
    "embedding.url": Setting("embedding_url", checks.url, vault_may_set=False),
    "embedding.key_env": Setting("embedding_key_env", checks.variable, vault_may_set=False),
    "embedding.batch": Setting("embedding_batch", checks.between(1, 2048), vault_may_set=False),
    "embedding.timeout_seconds": Setting("embedding_timeout_seconds", checks.seconds(0.1, 3600), vault_may_set=False),
    "embedding.query_deadline_seconds": Setting(
        "embedding_query_deadline_seconds", checks.seconds(0.01, 60), vault_may_set=False
    ),
    "embedding.keep_alive": Setting("embedding_keep_alive", checks.text, vault_may_set=False),
    "embedding.query_prefix": Setting("embedding_query_prefix", checks.prefix, vault_may_set=False),
    "embedding.document_prefix": Setting("embedding_document_prefix", checks.prefix, vault_may_set=False),
    "embedding.context_tokens": Setting("embedding_context_tokens", checks.between(16, 1_000_000), vault_may_set=False),
    "rerank.provider": Setting("rerank_provider", checks.one_of("off", "ollama"), vault_may_set=False),
    "rerank.model": Setting("rerank_model", checks.text, vault_may_set=False),
    "rerank.url": Setting("rerank_url", checks.url, vault_may_set=False),
    "rerank.deadline_seconds": Setting("rerank_deadline_seconds", checks.seconds(0.1, 600), vault_may_set=False),
}

VARIABLES: Mapping[str, str] = {
    "MEMORY_PRESET": "recall.preset",
    **{
        f"MEMORY_{key.replace('.', '_').upper()}": key
        for key, setting in SETTINGS.items()
        if key.startswith(("embedding.", "rerank.", "reflect.", "sessions.")) and not setting.vault_may_set
    },
}
"""Environment variables that set a key; they beat both files."""


def user_folder(kind: str, environ: Mapping[str, str]) -> Path:
    """Return the user's `config`, `data` or `state` folder for this program, following each system's custom."""
    return Path(folders.user_folder(kind, environ))


def load(vault_flag: str | None = None, environ: Mapping[str, str] | None = None, cwd: Path | None = None) -> Config:
    """Build the Config of this run; raises UsageError listing every bad setting, VaultError when no vault is found."""
    environ = os.environ if environ is None else environ
    user_file = user_folder("config", environ) / "config.toml"
    problems: list[Problem] = []
    user = _read(user_file, problems)
    flat = _flat(user)
    user_vault = flat.get("vault", flat.get("vault.path"))
    vault = find_vault(vault_flag, environ, cwd or Path.cwd(), user_vault if isinstance(user_vault, str) else None)
    vault_file = vault / ".memory" / "config.toml"
    local = _read(vault_file, problems) if os.access(vault, os.X_OK) else {}  # whoever opens the vault says so
    forbidden = Forbidden([], [])
    of_vault = _flat(local)
    values = _checked(of_vault, vault_file, problems, forbidden)
    values |= _checked(flat, user_file, problems)
    if any(key.startswith(TABLES) for key in (*flat, *of_vault)):
        from vault_memory import tables  # lazy: few have such a table

        maps = tables.read(tables.taken(flat), tables.taken(of_vault))
        problems += [
            Problem(str({"user": user_file, "vault": vault_file}[whose]), what) for whose, what in maps.problems
        ]
        forbidden.ignored.extend(f"{vault_file}: {what}" for what in maps.ignored)
        values |= {"folder_scopes": maps.folders, "projects": maps.projects}
    values |= _of_environment(environ, problems)
    problems += _at_odds(values, environ)
    if problems:
        raise UsageError(_told(problems), "Mend this where it is named, and run again.")
    sources = tuple(str(f) for f, read in ((user_file, user), (vault_file, local)) if read)
    return Config(
        **(values | {"vault": vault}), ignored=tuple(forbidden.ignored), unknown=tuple(forbidden.unknown),
        sources=sources,
    )  # fmt: skip


def _told(problems: list[Problem]) -> str:
    """One mistake as a sentence, several in a line each under where they stand."""
    if len(problems) == 1:
        where, what = problems[0]
        return f"{where}: {what}" if where != ENVIRONMENT else what
    places = dict.fromkeys(problem.where for problem in problems)
    lines = [f"{len(problems)} settings cannot be used."]
    for place in places:
        lines += [f"{place}:", *(f"  {problem.what}" for problem in problems if problem.where == place)]
    return "\n".join(lines)


def _of_environment(environ: Mapping[str, str], problems: list[Problem]) -> dict[str, Any]:
    """The settings that environment variables hold; an empty variable counts as unset."""
    values: dict[str, Any] = {}
    for name, key in VARIABLES.items():
        text, setting = environ.get(name, ""), SETTINGS[key]
        if not text:
            continue
        try:
            values[setting.name] = setting.check(_number(text) if key.endswith(_NUMBERS) else text)
        except ValueError as error:
            problems.append(Problem(ENVIRONMENT, f"${name} {error}"))
    return values


_NUMBERS = ("batch", "seconds", "tokens")


def _number(text: str) -> Any:  # noqa: ANN401
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _at_odds(values: Mapping[str, Any], environ: Mapping[str, str]) -> Iterator[Problem]:
    """Settings that are good by themselves and not together."""
    yield from (Problem("settings", what) for what in _incomplete(values))
    host = environ.get("OLLAMA_HOST", "").strip().strip("\"'")
    asks = [name for name in ("embedding", "rerank", "reflect") if values.get(f"{name}_provider") == "ollama"]
    if host and any(not values.get(f"{name}_url") for name in asks):
        try:
            checks.url(host)
        except ValueError as error:
            yield Problem(ENVIRONMENT, f"$OLLAMA_HOST {error}")
            return
    for name in ("embedding", "reflect"):
        yield from (Problem("settings", what) for what in _address_at_odds(values, name, host))


def _address_at_odds(values: Mapping[str, Any], name: str, host: str) -> Iterator[str]:
    """What in the address of a model does not go together with its other settings."""
    ollama = values.get(f"{name}_provider") == "ollama"
    split = checks.split(values.get(f"{name}_url") or (host if ollama else "") or "127.0.0.1")
    if split and split.username and values.get(f"{name}_key_env"):
        both = f"the address has a password and `{name}.key_env` names a key, and the server takes only one"
        yield f"{both}: leave one of them out"
    if split and split.query and ollama:
        yield f"`{name}.url` has a `?`, which Ollama does not know: leave it out"


def _incomplete(values: Mapping[str, Any]) -> Iterator[str]:
    """What must be named besides the provider: nothing leaves the computer for an address nobody wrote down."""
    for table, name, providers in _MUST_BE_NAMED:
        provider = values.get(f"{table}_provider")
        if provider in providers and not values.get(f"{table}_{name}"):
            yield f"`{table}.{name}` must be set for the provider {provider}"


_MUST_BE_NAMED = (
    ("embedding", "url", ("openai",)),
    ("embedding", "model", ("openai",)),
    ("rerank", "model", ("ollama",)),
    ("reflect", "url", ("openai",)),
    ("reflect", "model", ("ollama", "openai", "anthropic")),
)


def find_vault(flag: str | None, environ: Mapping[str, str], cwd: Path, configured: str | None) -> Path:
    """Return the vault's folder: flag, else $MEMORY_VAULT, else the nearest marked parent, else the user's file."""
    named = folders.named_vault(flag, environ, str(cwd))
    if named:
        return Path(named)
    if configured:
        return Path(configured).expanduser().absolute()
    raise VaultError(
        "No vault found.",
        "Name it with --vault PATH, set MEMORY_VAULT, run inside a folder that holds .obsidian/ or .memory/, "
        f'or put vault = "PATH" into {user_folder("config", environ) / "config.toml"}. '
        "`memory init PATH` makes a new one.",
    )


def _read(path: Path, problems: list[Problem]) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        problems.append(Problem(str(path), error.strerror or str(error)))
        return {}
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(Problem(str(path), str(error)))
        return {}


def _flat(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Turn `{"chunk": {"tokens": 400}}` into `{"chunk.tokens": 400}`, one level deep."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat |= {f"{key}.{name}": inner for name, inner in value.items()}
        else:
            flat[key] = value
    return flat


class Forbidden(NamedTuple):
    """What a vault's file had and may not: keys that only a user may set, and keys that are no settings."""

    ignored: list[str]
    unknown: list[str]


def _checked(
    flat: Mapping[str, Any], path: Path, problems: list[Problem], vault: Forbidden | None = None
) -> dict[str, Any]:
    """Check each key; with `vault` given, the file lies in a vault and may not set what only a user may."""
    values: dict[str, Any] = {}
    for key, value in flat.items():
        setting = SETTINGS.get(key)
        if key.startswith(TABLES):
            continue
        if setting is None and vault is not None and not key.casefold().startswith("scope"):
            vault.unknown.append(f"{path}: {_no_setting(key)}")
        elif setting is None:  # in a vault, too, what may have been meant to shut a folder
            problems.append(Problem(str(path), _no_setting(key)))
        elif vault is not None and not setting.vault_may_set:
            vault.ignored.append(f"{path}: `{key}` is ignored: a vault may not set it")
        else:
            try:
                values[setting.name] = setting.check(value)
            except ValueError as error:
                problems.append(Problem(str(path), f"`{key}` {error}"))
    return values


def _no_setting(key: str) -> str:
    import difflib

    near = difflib.get_close_matches(key, SETTINGS, n=1, cutoff=0.8)
    return f"`{key}` is not a setting" + (f": did you mean `{near[0]}`?" if near else "")
