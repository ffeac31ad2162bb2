"""Parses and checks the options of a recall from the command line, a batch line or a daemon client.

Takes one mapping of long option names to values and returns one Request; any mistake raises UsageError.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from vault_memory.config import Config
from vault_memory.errors import UsageError
from vault_memory.search.answer import Request
from vault_memory.startup import MODES, PRESETS, SOURCES, TASKS
from vault_memory.store.view import KINDS, Filters
from vault_memory.text.calendar_days import Span
from vault_memory.text.scope_syntax import normal_scope

OPTIONS = (
    "id", "query", "now", "k", "budget", "since", "until", "as-of", "entity", "kind", "tag", "scope", "source", "mode",
    "preset", "task", "explain", "all",
)  # fmt: skip
FIRST_YEAR, LAST_YEAR = 1000, 9000
"""Years accepted for `now`: nearer the ends of the calendar, the local day or "last year" may lie beyond them."""

LARGEST_COUNT = 10**9

DATE_HELP = 'A date is 2025-11-27, 2025-11, 30d (30 days ago), yesterday, "last week", "Nov 27" …'


def build(values: Mapping[str, Any], config: Config, rendered: bool = False, self_contained: bool = False) -> Request:
    """Make a Request from option values; absent or None means the default. Raises UsageError naming what is wrong.

    `rendered` and `self_contained` (see Request) are not options: the calling code sets them.
    """
    given = {key.replace("_", "-"): value for key, value in values.items() if value is not None}
    unknown = sorted(set(given) - set(OPTIONS))
    if unknown:
        raise UsageError(f"`{unknown[0]}` is not an option of recall.", f"Known are: {', '.join(OPTIONS)}.")
    query = given.get("query")
    if not isinstance(query, str):
        raise UsageError("`query` must be text.", "Give the question as text.")
    now = moment(given.get("now"))
    today = now.astimezone().date()
    days = {key: option_days(str(given[key]), key, today) for key in ("since", "until", "as-of") if key in given}
    since = days["since"].start if "since" in days else None
    until = days["until"].end if "until" in days else None
    if since and until and since > until:
        raise UsageError(f"`since` ({since}) is later than `until` ({until}).", "Exchange the two.")
    k, budget = count(given, "k"), count(given, "budget")
    if k is None and budget is None:
        k, budget = config.recall_k, config.recall_budget
    return Request(
        query=query, now=now, k=k, budget_tokens=budget,
        filters=Filters(
            since=since, until=until, as_of=days["as-of"].end if "as-of" in days else None,
            entities=tuple(name.lstrip("@").removeprefix("[[").removesuffix("]]") for name in texts(given, "entity")),
            kinds=tuple(kind(text) for text in texts(given, "kind")),
            tags=texts(given, "tag"), scopes=scopes(given),
            task=choice(given, "task", TASKS, "") if given.get("task") else "",
        ),
        source=choice(given, "source", SOURCES, "notes"),
        mode=choice(given, "mode", MODES, "auto"),
        preset=choice(given, "preset", PRESETS, config.recall_preset),
        explain=bool(given.get("explain", False)), all=bool(given.get("all", False)),
        rendered=rendered, self_contained=self_contained, id=given.get("id"), is_pinned="now" in given,
    )  # fmt: skip


def option_days(text: str, key: str, today: date) -> Span:
    """Return the days that a date option names; raises UsageError for anything else."""
    from vault_memory.text import date_finder  # lazy: most requests name no day

    span = date_finder.parse_option(text, today)
    if span is None:
        raise UsageError(f"`{text}` is not a date that `{key}` understands.", DATE_HELP)
    return span


def moment(value: object) -> datetime:
    """Parse a date (its end) or date-time, local if it has no zone, into aware UTC; None is now. Raises UsageError."""
    if value is None:
        return datetime.now(UTC)
    try:
        parsed = datetime.fromisoformat(str(value))
        if not FIRST_YEAR <= parsed.year <= LAST_YEAR:
            raise ValueError("too near the ends of the calendar")
        if len(str(value)) <= 10:
            parsed = parsed.replace(hour=23, minute=59, second=59)
        return parsed.astimezone(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"`{value}` is not a date or time.", "Write 2025-12-03 or 2025-12-03T09:00:00Z.") from error


def kind(text: str) -> str:
    """Return the kind that a letter or word stands for; raises UsageError for any other."""
    from vault_memory.markdown import facts

    found = facts.KINDS.get(text.upper(), text.casefold())
    if found not in KINDS:
        raise UsageError(f"`{text}` is not a kind.", f"Kinds are W, B, O, S or {', '.join(KINDS)}.")
    return found


def count(given: Mapping[str, Any], key: str) -> int | None:
    """Return a parameter that is a positive whole number, None if absent; raises UsageError for anything else.

    Larger numbers are capped at LARGEST_COUNT, which SQLite can take.
    """
    value = given.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"`{key}` must be a whole number above 0.", f"For example {key}=8.")
    return min(value, LARGEST_COUNT)


def texts(given: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return a parameter that is one text or several, () if absent; raises UsageError for anything else."""
    value = given.get(key)
    if value is None:
        return ()
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(item, str) for item in values):
        raise UsageError(f"`{key}` must be text or a list of texts.", "")
    if any("\ud800" <= char <= "\udfff" for item in values for char in item):
        raise UsageError(f"`{key}` is not text that UTF-8 can hold.", "Fix its encoding.")
    return tuple(values)


def flag(given: Mapping[str, Any], key: str) -> bool:
    """Return a boolean parameter, False if absent; raises UsageError for anything else."""
    value = given.get(key, False)
    if not isinstance(value, bool):
        raise UsageError(f"`{key}` must be true or false.", "Leave it out for false.")
    return value


def scopes(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the scopes that a `scope` parameter opens; () if absent, which opens all."""
    return tuple(normal_scope(text) for text in texts(given, "scope"))


def choice(given: Mapping[str, Any], key: str, choices: tuple[str, ...], default: str) -> str:
    """Return a parameter that must be one of `choices`; raises UsageError for any other."""
    value = given.get(key, default)
    if value not in choices:
        raise UsageError(f"`{value}` is not a {key}.", f"Choose from {', '.join(choices)}.")
    return str(value)
