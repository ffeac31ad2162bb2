"""The lines of generated pages that only count facts: how they are worded, and how they are told from others. Pure.

What such a line counts is on other lines: it is no passage (passages.py).
"""

import re
from collections.abc import Collection
from datetime import date

from vault_memory.text.calendar_days import long_day
from vault_memory.text.output import plural

_COUNT = re.compile(
    r"…and [\d,]+ more\b.*|(?:.+; )?[\d,]+ facts?(?:, (?:one|[\d,]+) of them)? (?:on [\d,]+ days?|of \d).*"
)


def is_count(line: str) -> bool:
    """Whether a line of a generated block only counts facts."""
    return _COUNT.fullmatch(line) is not None


def and_more(count: int, what: str = "", tail: str = ".") -> str:
    """`…and 5 more facts.`"""
    return f"…and {plural(count, f'more {what}') if what else f'{count:,} more'}{tail}"


def facts_on_days(facts: int, days: int) -> str:
    """`76 facts on 25 days`."""
    return f"{plural(facts, 'fact')} on {plural(days, 'day')}"


def known_facts(facts: int, dated: int, days: Collection[date]) -> str:
    """`14 facts on 9 days`, `2 facts, one of them of 3 May 2025`; `dated` is how many facts have one of the days."""
    if dated == facts and len(days) > 1:
        return facts_on_days(facts, len(days))
    if not days:
        return plural(facts, "fact")
    some = f", {'one' if dated == 1 else f'{dated:,}'} of them" if dated < facts else ""
    return f"{plural(facts, 'fact')}{some} " + (f"of {long_day(*days)}" if len(days) == 1 else f"on {len(days):,} days")
