"""Settings: merges files, the environment and flags into one frozen Config, and reports every problem at once.

A vault may come from anywhere (law 8): settings that name paths, endpoints, keys or programs are read only from the
user's own file, the environment or flags; in a vault's file they are ignored and listed in `Config.ignored` for doctor.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_memory import startup
from vault_memory.errors import IndexUnusableError, NoVaultError, UsageError
from vault_memory.startup import PRESETS, TOOLS
from vault_memory.text.scope_syntax import GLOBAL, SCOPES, Folders, folder_key, is_scope, normal_scope
from vault_memory.text.vault_layout import STANDARD

if TYPE_CHECKING:
    from urllib.parse import SplitResult

# --- validation of values --------------------------------------------------------------------------------------------

Check = Callable[[Any], Any]
"""Converts a value to the form the program uses; its ValueError says what is allowed ("must be true or false")."""


def _must_be(what: str, holds: Callable[[Any], object], use: Callable[[Any], Any] = lambda value: value) -> Check:
    def check(value: object) -> object:
        if not holds(value):
            raise ValueError(f"must be {what}")
        return use(value)

    return check


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_program(name: str) -> bool:
    is_bare = bool(name.strip()) and not re.search(r"[/\\]", name) and name not in (".", "..")
    return is_bare or os.path.isabs(os.path.expanduser(name))


def _is_plain_path(path: str) -> bool:
    """Whether `path` is relative, without hidden parts, and valid on every platform and in every link."""
    parts = path.split("/")
    return path.isprintable() and all(re.fullmatch(r'(?![. ])[^\\:*?"<>|#^\[\]]+(?<![. ])', part) for part in parts)


def _is_plain_note(path: str) -> bool:
    return _is_plain_path(path) and path.endswith(".md")


def _one_of(*allowed: str) -> Check:
    return _must_be(f"one of {', '.join(allowed)}", lambda value: value in allowed)


def _number(low: float, high: float) -> Check:
    """A number from `low` to `high`; it must be an integer if `low` is one."""
    kinds: tuple[type, ...] = (int,) if isinstance(low, int) else (int, float)
    what = f"a {'whole number' if isinstance(low, int) else 'number'} from {low} to {high}"
    return _must_be(what, lambda value: type(value) in kinds and low <= value <= high, kinds[-1])


def _absolute(text: str) -> Path:
    return Path(text).expanduser().absolute()


def _some_of(*allowed: str) -> Check:
    """Any subset of `allowed`, as a list or, in an environment variable, separated by commas."""

    def check(value: object) -> tuple[str, ...]:
        named = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
        if not isinstance(named, list) or any(name not in allowed for name in named):
            raise ValueError(f"must be a list of some of {', '.join(allowed)}")
        return tuple(dict.fromkeys(named))

    return check


def _roots(value: object) -> tuple[tuple[Path, str], ...]:
    """Folders, each with a scope ("" means its project's), given as paths or as tables of path and scope."""
    found = []
    for each in value if isinstance(value, list) else [None]:
        table = {"path": each} if isinstance(each, str) else each
        if not isinstance(table, dict) or not {"path"} <= set(table) <= {"path", "scope"}:
            raise ValueError('must be a list of paths or of {path = "…", scope = "…"}')
        found.append((_PATH(table["path"]), _TEXT(table["scope"]) if "scope" in table else ""))
    return tuple(found)


def _split(address: str) -> "SplitResult | None":
    """Split an address with or without `http://`; None if it is not a valid one."""
    from urllib.parse import urlsplit

    bare = "://" not in address
    try:
        parts = urlsplit(f"http://{address}" if bare else address)
        port = parts.port  # raises ValueError for an invalid port
    except ValueError:
        return None
    # `:56789` means that port on this machine, as in Ollama.
    named = bool(parts.hostname) or (bare and port is not None)
    is_plain = port != 0 and parts.scheme in ("http", "https") and not parts.username
    return parts if named and is_plain else None


_TEXT = _must_be("text in quotes", _is_text)
_PATH = _must_be("text in quotes", _is_text, _absolute)
_PATHS = _must_be("a list of texts", _are_texts, lambda value: tuple(map(_PATH, value)))
_GLOBS = _must_be(  # fnmatch takes quadratic time on a pattern with many brackets
    "a list of texts of up to 1,000 characters",
    lambda value: _are_texts(value) and all(len(glob) <= 1000 for glob in value),
    tuple,
)
_FLAG = _must_be("true or false", lambda value: isinstance(value, bool))
_SCOPE = _must_be(SCOPES, lambda value: isinstance(value, str) and is_scope(value), normal_scope)
_FOLDER = _must_be(
    "a folder of the vault, or `.` for all of it",
    lambda name: name.strip() and ".." not in name.replace("\\", "/").split("/"),
    lambda name: folder_key(name.replace("\\", "/")),
)
_DAILY = _must_be(
    'a folder inside the vault, such as "memory"',
    lambda value: _is_text(value) and ".." not in re.split(r"[/\\]", value),
)
_BANK = _must_be(
    'a folder inside the vault, such as "bank"',
    lambda value: _is_text(value) and _is_plain_path(value.rstrip("/")), lambda value: value.rstrip("/"),
)  # fmt: skip
_CORE = _must_be(
    'a note inside the vault, such as "memory.md"', lambda value: _is_text(value) and _is_plain_note(value)
)
_NOTES = _must_be(
    'a list of notes inside the vault, such as ["SOUL.md", "USER.md"]',
    lambda value: _are_texts(value) and all(map(_is_plain_note, value)), tuple,
)  # fmt: skip
_TIME = _must_be(
    'a time such as "03:30", or "" for never',
    lambda value: isinstance(value, str) and re.fullmatch(r"(([01]\d|2[0-3]):[0-5]\d)?", value, re.ASCII),
)
_ADDRESS = _must_be(
    "an address such as http://127.0.0.1:11434, without user and password",
    lambda value: _is_text(value) and _split(value) and not any(map(str.isspace, value)),
)
_VARIABLE = _must_be(  # a key pasted here by mistake would appear in every message that names the variable
    "the name of an environment variable, not the key itself",
    lambda value: isinstance(value, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", value),
)

_COMMAND = _must_be(  # a relative path would mean something else in each folder, a vault's included
    'a list of texts, first a program\'s name or absolute path, such as ["claude", "-p"]',
    lambda value: _are_texts(value) and value and _is_program(value[0]) and "\0" not in "".join(value), tuple,
)  # fmt: skip

# --- the settings ----------------------------------------------------------------------------------------------------


def _setting(check: Check, default: object = None, key: str = "", users_own: bool = False) -> Any:  # noqa: ANN401
    """A Config field with its check; `key` is needed only where it is not the field name with the first `_` as a dot.

    With `users_own` it can be set only in the user's own file or by an environment variable, not by a vault.
    """
    return field(default=default, metadata={"key": key, "check": check, "users_own": users_own})


_own = partial(_setting, users_own=True)


@dataclass(frozen=True)
class Config:
    """All settings of one run; `ignored` and `unknown` are sentences about keys that have no effect.

    `problems` lists the invalid settings that were left out when `load` was called with `with_problems`.
    """

    vault: Path = _own(_PATH, MISSING)
    index_path: Path | None = _own(_PATH)
    daily_folder: str | None = _setting(_DAILY, key="vault.daily_folder")
    daily_format: str | None = _setting(_TEXT, key="vault.daily_format")
    bank_folder: str = _setting(_BANK, STANDARD.bank, key="vault.bank")
    core_file: str = _setting(_CORE, STANDARD.core, key="vault.core")
    ignore: tuple[str, ...] = _setting(_GLOBS, (), key="vault.ignore")
    recall_k: int = _setting(_number(1, 1000), 8)
    recall_budget: int = _setting(_number(1, 1_000_000), 2000)
    recall_preset: str = _setting(_one_of(*PRESETS), "tuned")
    journal: bool = _setting(_FLAG, True, key="recall.journal")
    core_files: tuple[str, ...] = _setting(_NOTES, ())
    embedding_provider: str = _own(_one_of("builtin", "ollama", "openai"), "builtin")
    embedding_model: str = _own(_TEXT, "")
    embedding_url: str = _own(_ADDRESS, "")
    embedding_key_env: str = _own(_VARIABLE, "")
    embedding_batch: int = _own(_number(1, 2048), 32)
    embedding_timeout_seconds: float = _own(_number(0.1, 3600), 60.0)
    embedding_query_deadline_seconds: float = _own(_number(0.01, 60), 0.5)
    embedding_keep_alive: str = _own(_TEXT, "30m")
    rerank_provider: str = _own(_one_of("off", "ollama"), "off")
    rerank_model: str = _own(_TEXT, "")
    rerank_url: str = _own(_ADDRESS, "")
    rerank_deadline_seconds: float = _own(_number(0.1, 600), 5.0)
    reflect_at: str = _setting(_TIME, "03:30")
    reflect_entity_days: int = _setting(_number(1, 365), 2)
    reflect_provider: str = _own(_one_of("off", "ollama", "openai", "anthropic", "command"), "off")
    reflect_model: str = _own(_TEXT, "")
    reflect_url: str = _own(_ADDRESS, "")
    reflect_command: tuple[str, ...] = _own(_COMMAND, ())
    reflect_key_env: str = _own(_VARIABLE, "")
    reflect_deadline_seconds: float = _own(_number(0.1, 3600), 60.0)
    reflect_run_deadline_seconds: float = _own(_number(0.1, 86_400), 600.0)
    terminal_links: bool = _own(_FLAG, True)
    mcp_edit: bool = _own(_FLAG, False)
    hooks_seconds: float = _own(_number(0.1, 60), 2.0)
    hooks_budget: int = _own(_number(1, 1_000_000), 2000)
    sessions_tools: tuple[str, ...] = _own(_some_of(*TOOLS), ())
    sessions_log: bool = _own(_FLAG, False)
    capture_mode: str = _own(_one_of("off", "propose", "write"), "propose")
    capture_admission: str = _own(_one_of("off", "balanced", "conservative", "high-recall"), "off")
    """Whether the classic scores must admit a statement as well, with the weights of this preset."""
    capture_remind: bool = _own(_FLAG, False)
    capture_vault: Path | None = _own(_PATH)
    """The vault that sessions are captured into; defaults to the user's `vault`, else to whichever vault captures."""
    capture_skip: tuple[str, ...] = _own(_must_be("a list of texts", _are_texts, tuple), ())
    """Projects whose sessions are not captured: project names as in scopes, or folders."""
    capture_max_per_day: int = _own(_number(1, 100), 10)
    sessions_claude_code: Path | None = _own(_PATH)
    sessions_opencode: Path | None = _own(_PATH)
    sessions_openclaw: Path | None = _own(_PATH)
    roots: tuple[tuple[Path, str], ...] = _own(_roots, (), key="roots.vaults")
    roots_under: tuple[Path, ...] = _own(_PATHS, ())
    folder_scopes: Folders = ()
    """The table `[scopes]`: folders of the vault (scope_syntax.folder_key) and the scope of their notes."""
    projects: tuple[tuple[str, str], ...] = ()
    """The user's table `[projects]`: absolute folders and the scope of the project each belongs to."""
    ignored: tuple[str, ...] = field(default=(), compare=False)
    unknown: tuple[str, ...] = field(default=(), compare=False)
    problems: tuple[str, ...] = field(default=(), compare=False)


SETTINGS = {each.metadata["key"] or each.name.replace("_", ".", 1): each for each in fields(Config) if each.metadata}
"""Key as written in a settings file → field."""
SETTINGS["vault.path"] = SETTINGS["vault"]  # TOML allows no key `vault` beside a table [vault]

RETIRED = (
    "embedding.query_prefix", "embedding.document_prefix", "embedding.context_tokens", "capture.languages",
    "capture.preset",
)  # fmt: skip
"""Keys of earlier versions: reported as unknown, not as an error."""

_OWN_TABLES = ("embedding.", "rerank.", "reflect.", "sessions.", "capture.")

VARIABLES: Mapping[str, str] = {"MEMORY_PRESET": "recall.preset"} | {
    f"MEMORY_{key.replace('.', '_').upper()}": key
    for key, setting in SETTINGS.items()
    if key.startswith(_OWN_TABLES) and setting.metadata["users_own"]
}
"""Environment variable → the key it sets; variables override both files."""

_SCOPES_TABLE, _PROJECTS_TABLE = "scopes.", "projects."
"""Prefixes of the flat keys of the tables whose keys are folders."""


def template(name: str) -> Path:
    """Path of a shipped template: inside the package when installed, next to it in a checkout."""
    package = Path(__file__).parent
    for folder in (package / "templates", package.parent / "templates"):
        if (folder / name).exists():
            return folder / name
    raise IndexUnusableError(f"The template {name} is missing.", "Reinstall vault-memory.")


def load(
    vault_flag: str | None = None, environ: Mapping[str, str] | None = None, cwd: Path | None = None, *,
    with_problems: bool = False,
) -> Config:  # fmt: skip
    """Build the Config of this run; raises UsageError listing every bad setting, VaultError when no vault is found.

    `with_problems` leaves bad settings out and lists them in `Config.problems` instead. The vault comes from the flag,
    else $MEMORY_VAULT, else the nearest folder at or above `cwd` with a marker, else the user's file.
    """
    environ = os.environ if environ is None else environ
    user_file, reader = Path(startup.user_folder("config", environ), "config.toml"), _Reader()
    users = reader.read(user_file)
    configured = users.get("vault", users.get("vault.path"))
    named = startup.named_vault(vault_flag, environ, str(cwd or Path.cwd())) or configured
    if not named or not isinstance(named, str):
        folder = _unnamed_vault(environ, cwd or Path.cwd())
        here = "This folder holds notes: `memory index --vault .` takes it for one.\n" if folder else ""
        raise NoVaultError(
            "\n".join(("No vault found.", *reader.problems)),
            f"{here}Name it with --vault PATH, set MEMORY_VAULT, run inside a folder that holds .obsidian/ or "
            f'.memory/, or put vault = "PATH" into {user_file}. `memory init PATH` makes a new one.',
            folder,
        )
    vault = Path(named).expanduser().absolute()
    vault_file = vault / ".memory" / "config.toml"
    vaults = reader.read(vault_file) if os.access(vault, os.X_OK) else {}  # opening the vault reports it
    values = reader.checked(vaults, vault_file, in_vault=True) | reader.checked(users, user_file)
    if isinstance(configured, str) and configured.strip():
        values.setdefault("capture_vault", _absolute(configured))
    values["projects"] = reader.folders(_PROJECTS_TABLE, users, user_file)
    own, of_vault = (reader.folders(_SCOPES_TABLE, *each) for each in ((users, user_file), (vaults, vault_file)))
    values["folder_scopes"], refused = _joined_folders(own, of_vault)
    what = "is ignored: a vault opens no folder, nor one that you have a scope for"
    reader.ignored += [f"{vault_file}: `{_SCOPES_TABLE}{name}` {what}" for name in refused]
    for variable, key in VARIABLES.items():
        if text := environ.get(variable, ""):  # an empty variable counts as unset
            with reader.collecting(f"${variable}"):
                values[SETTINGS[key].name] = _of_text(SETTINGS[key].metadata["check"], text)
    for table, problem in list(_at_odds(values, environ)):
        reader.problems += [problem] if problem not in reader.problems else []
        values.pop(f"{table}_provider", None)
    if reader.problems and not with_problems:
        count = len(reader.problems)
        heading = [f"{count} settings cannot be used."] if count > 1 else []
        raise UsageError("\n".join([*heading, *reader.problems]), "Fix this where it is named, and run again.")
    said = {name: tuple(getattr(reader, name)) for name in ("ignored", "unknown", "problems")}
    return Config(**(values | said | {"vault": vault}))


def _unnamed_vault(environ: Mapping[str, str], folder: Path) -> str:
    """The current folder if it, or a folder directly in it, contains notes, so that it could be a vault; else "".

    The home folder and those above it never count: nobody means everything in there.
    """
    if Path(environ.get("HOME") or os.path.expanduser("~")).resolve().is_relative_to(folder.resolve()):
        return ""
    with suppress(OSError):
        if any(folder.glob("*.md")) or any(folder.glob("[!.]*/*.md")):
            return str(folder)
    return ""


def _joined_folders(own: Folders, of_vault: Folders) -> tuple[Folders, list[str]]:
    """The user's folder scopes plus those the vault may add, and the folders whose scope the vault may not set.

    A vault is untrusted: it may make its folders private but not global. A scope that the user sets for a folder
    applies to everything in it, whatever the vault says.
    """
    taken, refused = list(own), []
    for folder, scope in of_vault:
        if scope == GLOBAL or any(not mine or f"{folder}/".startswith(f"{mine}/") for mine, _ in own):
            refused.append(folder)
        else:
            taken.append((folder, scope))
    return tuple(sorted(taken)), refused


@dataclass
class _Reader:
    """Reads and checks settings, and collects a sentence about each problem."""

    problems: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def read(self, path: Path) -> dict[str, Any]:
        """Read a file's settings with flattened keys: `{"recall": {"k": 8}}` becomes `{"recall.k": 8}`."""
        try:
            data = startup.read_regular(path)
            import tomllib  # lazy: most users have no such file

            tree = tomllib.loads(data.decode("utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, ValueError, RecursionError) as error:  # ValueError: invalid TOML or UTF-8
            self.problems.append(f"{path}: {getattr(error, 'strerror', None) or error}")
            return {}
        flat: dict[str, Any] = {}
        for key, value in tree.items():
            is_table = isinstance(value, dict)
            flat |= {f"{key}.{name}": inner for name, inner in value.items()} if is_table else {key: value}
        return flat

    def checked(self, flat: Mapping[str, Any], path: Path, in_vault: bool = False) -> dict[str, Any]:
        """Check every key except those in the folder tables."""
        values: dict[str, Any] = {}
        for key, value in flat.items():
            setting = SETTINGS.get(key)
            if key.startswith(_SCOPES_TABLE) or (key.startswith(_PROJECTS_TABLE) and not in_vault):
                continue
            if in_vault and (key.startswith(_PROJECTS_TABLE) or (setting and setting.metadata["users_own"])):
                self.ignored.append(f"{path}: `{key}` is ignored: a vault may not set it")
            elif setting is None and (key in RETIRED or (in_vault and not key.casefold().startswith("scope"))):
                self.unknown.append(f"{path}: `{key}` is not a setting")
            elif setting is None:  # in a vault, too: a misspelt `scopes` may be meant to make a folder private
                self.problems.append(f"{path}: `{key}` is not a setting")
            else:
                with self.collecting(f"{path}: `{key}`"):
                    values[setting.name] = setting.metadata["check"](value)
        return values

    def folders(self, table: str, flat: Mapping[str, Any], path: Path) -> Folders:
        """The folders of one table, each with its scope; in `[projects]` the prefix `project:` may be left out."""
        found: dict[str, str] = {}
        for key, value in flat.items():
            if not key.startswith(table):
                continue
            with self.collecting(f"{path}: `{key}`"):
                name = key.removeprefix(table)
                if table == _SCOPES_TABLE:
                    folder, scope = _FOLDER(name), _SCOPE(value)
                else:
                    folder, scope = str(_absolute(name)), _SCOPE(f"project:{_TEXT(value).removeprefix('project:')}")
                if found.setdefault(folder, scope) != scope:
                    raise ValueError("is there twice, with two scopes: capitals play no part")
        return tuple(sorted(found.items()))

    @contextmanager
    def collecting(self, what: str) -> Iterator[None]:
        """Record the ValueError of a check as a problem."""
        try:
            yield
        except ValueError as error:
            self.problems.append(f"{what} {error}")


def _of_text(check: Check, text: str) -> object:
    """Check a variable's value, read as TOML (`true`, `["a", "b"]`) if that is valid, else as unquoted text."""
    import tomllib

    with suppress(ValueError):
        return check(tomllib.loads(f"value = {text}")["value"])
    return check(text)


_MUST_BE_NAMED = (
    ("embedding", "url", ("openai",)),
    ("embedding", "model", ("openai",)),
    ("rerank", "model", ("ollama",)),
    ("reflect", "url", ("openai",)),
    ("reflect", "model", ("ollama", "openai", "anthropic")),
    ("reflect", "command", ("command",)),
)
"""(table, setting, providers that require it): nothing is sent to an address that the user did not write down."""


def _at_odds(values: Mapping[str, Any], environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Tables whose settings are valid individually but not in combination, and what is wrong with each."""
    for table, name, providers in _MUST_BE_NAMED:
        provider = values.get(f"{table}_provider")
        if provider in providers and not values.get(f"{table}_{name}"):
            yield table, f"settings: `{table}.{name}` must be set for the provider {provider}"
    host = environ.get("OLLAMA_HOST", "").strip().strip("\"'")
    for table in ("embedding", "rerank", "reflect"):
        is_ollama, url = values.get(f"{table}_provider") == "ollama", values.get(f"{table}_url")
        if is_ollama and not url and host:
            try:
                _ADDRESS(host)
            except ValueError as error:
                yield table, f"$OLLAMA_HOST {error}"
