"""Owns whether an agent's own settings switch its hooks off: then what stands in them is not run."""

import contextlib

from vault_memory.errors import VaultMemoryError
from vault_memory.integrations import agentfiles, jsontext
from vault_memory.integrations.jsontext import NotJsonError
from vault_memory.integrations.settings_files import Switch, Target


def off(target: Target) -> list[Switch]:
    """The switches of an agent that are on, and its hooks so off; none in a file that cannot be read."""
    return [switch for switch in target.switches if _is_on(switch, target)]


def _is_on(switch: Switch, target: Target) -> bool:
    with contextlib.suppress(VaultMemoryError, NotJsonError):
        text = agentfiles.text(*agentfiles.read(switch.file, target.within)) or ""
        of = jsontext.parse(text, comments=True)
        found = of.find((switch.name,))
        return found is not None and of.plain(found) is True
    return False
