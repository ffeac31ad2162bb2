"""The user's own settings are added to: what is to be set is set, and every line that was there stays."""

import tomllib

import pytest

from vault_memory.errors import RefusedError
from vault_memory.integrations.install import add_setting

TEXTS = {
    "": '[sessions]\ntools = ["opencode"]\n',
    "# mine\nvault = 'x'": "# mine\nvault = 'x'\n\n[sessions]\ntools = [\"opencode\"]\n",
    "[sessions] # of mine\nlog = true\n\n[recall]\nk = 3\n": (
        '[sessions] # of mine\ntools = ["opencode"]\nlog = true\n\n[recall]\nk = 3\n'
    ),
    '[sessions]\ntools = ["claude-code"] # both?\n': '[sessions]\ntools = ["opencode", "claude-code"] # both?\n',
    '[sessions]\ntools = [\n  "claude-code", # one ]\n]\n': (
        '[sessions]\ntools = ["opencode", \n  "claude-code", # one ]\n]\n'
    ),
    "[sessions]\ntools = []": '[sessions]\ntools = ["opencode"]',
    "[recall]\nk = 3\n[ sessions ]\n": '[recall]\nk = 3\n[ sessions ]\ntools = ["opencode"]\n',
    'x = """\n[sessions]\n"""\n': 'x = """\n[sessions]\n"""\n\n[sessions]\ntools = ["opencode"]\n',
    '[other]\ntools = ["a"]\n[sessions]\ntools = ["openclaw"]\n': (
        '[other]\ntools = ["a"]\n[sessions]\ntools = ["opencode", "openclaw"]\n'
    ),
    '[sessions]\ntools = ["opencode"]\n': '[sessions]\ntools = ["opencode"]\n',
}


@pytest.mark.parametrize(("before", "after"), TEXTS.items())
def test_an_item_goes_into_a_list_and_all_else_stays(before: str, after: str) -> None:
    assert add_setting(before, "sessions.tools", ["opencode"]) == after
    assert "opencode" in tomllib.loads(after)["sessions"]["tools"]
    assert add_setting(after, "sessions.tools", ["opencode"]) == after


def test_a_value_that_is_there_is_not_changed() -> None:
    assert add_setting("[sessions]\nlog = false\n", "sessions.log", True) == "[sessions]\nlog = false\n"


@pytest.mark.parametrize("text", ["sessions = { log = true }\n", "sessions.log = true\n", "sessions = 1\n"])
def test_where_there_is_no_place_the_user_is_told_what_to_write(text: str) -> None:
    with pytest.raises(RefusedError) as refused:
        add_setting(text, "sessions.tools", ["opencode"])
    assert refused.value.next_step == 'Write `tools = ["opencode"]` into [sessions] yourself.'
