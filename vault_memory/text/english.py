"""Counts and lists as a sentence says them."""

from collections.abc import Sequence


def plural(count: int, noun: str) -> str:
    """`1 note`, `2 notes`, `2 entities`, `2 matches`."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y") and not noun.endswith("ay"):
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}{'es' if noun.endswith('ch') else 's'}"


def listed(parts: Sequence[str]) -> str:
    """`8 weeks, 2 months and 1 year`."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
