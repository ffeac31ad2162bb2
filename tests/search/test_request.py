"""Reading recall's options: defaults, dates, kinds, and one clear error for whatever is wrong."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from vault_memory.config import Config
from vault_memory.errors import UsageError
from vault_memory.search.recall_options import build, moment

CONFIG = Config(vault=Path("/vault"), recall_k=4, recall_budget=700)
NOW = "2025-12-03T12:00:00Z"


def test_a_bare_question_takes_the_configured_bounds() -> None:
    request = build({"query": "bees"}, CONFIG)
    assert (request.query, request.k, request.budget_tokens) == ("bees", 4, 700)
    assert (request.source, request.mode, request.explain, request.id) == ("notes", "auto", False, None)
    assert not any(request.filters)
    assert abs((datetime.now(UTC) - request.now).total_seconds()) < 60


@pytest.mark.parametrize(
    ("given", "k", "budget"),
    [
        ({"k": 3}, 3, None),
        ({"budget": 500}, None, 500),
        ({"k": 3, "budget": 500}, 3, 500),
        ({"k": None, "budget": None}, 4, 700),
    ],
)
def test_with_one_bound_given_the_other_is_unlimited(
    given: dict[str, object], k: int | None, budget: int | None
) -> None:
    request = build({"query": "x", **given}, CONFIG)
    assert (request.k, request.budget_tokens) == (k, budget)


@pytest.mark.parametrize(
    ("option", "value", "field", "found"),
    [
        ("since", "2025-11", "since", date(2025, 11, 1)),
        ("until", "2025-11", "until", date(2025, 11, 30)),
        ("as-of", "2025-11", "as_of", date(2025, 11, 30)),
        ("as_of", "2025-11-27", "as_of", date(2025, 11, 27)),
        ("since", "30d", "since", date(2025, 11, 3)),
        ("since", "last week", "since", date(2025, 11, 24)),
        ("until", "last week", "until", date(2025, 11, 30)),
        ("since", 2025, "since", date(2025, 1, 1)),
        ("entity", "Mara", "entities", ("Mara",)),
        ("entity", ["@Mara", "@[[Blue House]]"], "entities", ("Mara", "Blue House")),
        ("kind", ["O", "w", "Experience"], "kinds", ("opinion", "world", "experience")),
        ("tag", ("boat", "sea"), "tags", ("boat", "sea")),
        ("scope", ["global", "secret"], "scopes", ("global", "custom:secret")),
    ],
)
def test_filters(option: str, value: object, field: str, found: object) -> None:
    filters = build({"query": "x", "now": NOW, option: value}, CONFIG).filters
    assert getattr(filters, field) == found and any(filters)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({}, "query"),
        ({"query": 3}, "query"),
        ({"query": "x", "colour": "red"}, "colour"),
        ({"query": "x", "k": -1}, "k"),
        ({"query": "x", "k": True}, "k"),
        ({"query": "x", "k": "3"}, "k"),
        ({"query": "x", "budget": 1.5}, "budget"),
        ({"query": "x", "since": "soonish"}, "since"),
        ({"query": "x", "since": "2025-12-02", "until": "2025-12-01"}, "later than `until`"),
        ({"query": "x", "until": "2025-13-45"}, "until"),
        ({"query": "x", "as-of": ""}, "as-of"),
        ({"query": "x", "now": "teatime"}, "teatime"),
        ({"query": "x", "kind": "Q"}, "Q"),
        ({"query": "x", "kind": [1]}, "kind"),
        ({"query": "x", "entity": {"a": 1}}, "entity"),
        ({"query": "x", "source": "web"}, "web"),
        ({"query": "x", "mode": "magic"}, "magic"),
    ],
)
def test_what_is_wrong_is_named(values: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError) as error:
        build(values, CONFIG)
    assert named in str(error.value)
    assert error.value.exit_code == 2


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("2025-12-03T09:00:00Z", datetime(2025, 12, 3, 9, tzinfo=UTC)),
        ("2025-12-03T09:00:00+02:00", datetime(2025, 12, 3, 7, tzinfo=UTC)),
        ("2025-12-03", datetime(2025, 12, 3, 23, 59, 59).astimezone(UTC)),
        ("2025-12-03 09:00", datetime(2025, 12, 3, 9).astimezone(UTC)),
    ],
)
def test_a_moment(value: str, found: datetime) -> None:
    assert moment(value) == found and moment(value).tzinfo is UTC


@pytest.mark.parametrize(
    "value", ["", "now", "2025-02-30", "25:00", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00", [], True]
)
def test_what_is_no_moment(value: object) -> None:
    with pytest.raises(UsageError):
        moment(value)
