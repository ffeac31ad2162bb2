"""Owns what a hook is told: an agent's event read, whatever it holds, as the occasion to answer or to note something.

An agent's input is taken as it comes: a field that is missing or of another kind is an empty one. Pure.
"""

import json
import re
from typing import Any, NamedTuple

STARTED, RESUMED, ASKED, COMPACTING, COMPACTED = "started", "resumed", "asked", "compacting", "compacted"
SUMMED_UP = "summed up"
"""A compaction at which what is handed over goes to whoever writes the summary, and not into the conversation."""

PAUSED, ENDED, GONE = "paused", "ended", "gone"
"""A session that has ended may be resumed; one that is gone may not."""

LONGEST_PROMPT = 4000
"""Characters of a prompt that are searched for: what is pasted below it says less with every line."""

_COMMAND = re.compile(r"/[\w:.-]+(?=\s|$)")
_WORD = re.compile(r"[^\W_]+")
_STANDS_FOR = re.compile(
    r"\[(?:Image|Pasted text) #\d{1,6}(?: \+\d{1,9} lines)?\]"
    r"|(?<![\w@])@(?:\"[^\"\n]{1,300}\"|[\w.~/\\-]{0,300}(?:/|\.[a-z][a-z0-9]{0,4}\b))(?:#L\d{1,9}(?:-L?\d{1,9})?)?"
)
"""What Claude Code writes for an image, for pasted text and for a file: the model is given these, we are not."""

_NODS = frozenset(
    word
    for line in (
        "y yes yep yeah yup ok okay k kk sure fine good great nice perfect right correct exactly agreed thanks thank",
        "thx no nope nah n continue proceed go ahead on keep going next again retry repeat more done stop wait please",
        "do it that this now you so then and the a let s lets us just looks look lgtm cool awesome sounds all of",
        "course",
        "ja jo jep nein nö gut genau danke bitte weiter mach mal nochmal los passt alles klar und das es",
        "oui non si merci continuez vas d accord bien parfait encore la le suivant",
        "sí gracias continúa continua sigue vale bueno perfecto otra vez adelante dale",
        "sim não obrigado obrigada claro isso mais sì grazie va bene avanti ancora",
        "да нет хорошо спасибо дальше продолжай ещё ок ладно",
        "是 是的 好 好的 对 不 不是 继续 谢谢 可以 行 はい いいえ 続けて ありがとう お願いします",
        "네 아니요 계속 감사합니다",
    )
    for word in line.split()
)
"""Words that a person answers with and that name nothing to look for."""


class Occasion(NamedTuple):
    """What happened in which session; `prompt` is what its user asked, or what is to be looked for."""

    what: str
    session: str = ""
    transcript: str = ""
    folder: str = ""
    prompt: str = ""


def fields(data: bytes) -> dict[str, Any] | None:
    """What an agent wrote to a hook's standard input; None where that is no JSON object."""
    try:
        found = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def text(of: dict[str, Any], name: str) -> str:
    """A field that is text that UTF-8 can hold; "" for anything else."""
    value = of.get(name)
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def asks(prompt: str) -> str:
    """What of a prompt is worth looking for; "" for a nod ("yes, go on"), a slash command and the like."""
    words = _STANDS_FOR.sub(" ", _own(prompt[: 4 * LONGEST_PROMPT])).strip()[:LONGEST_PROMPT].strip()
    if _COMMAND.match(words):
        return ""
    named = [word for word in _WORD.findall(words.casefold()) if word not in _NODS and not word.isdigit()]
    return words if any(len(word) > 1 or not word.isascii() for word in named) else ""


def _own(prompt: str) -> str:
    """A prompt without what was pasted into it of an earlier answer of ours."""
    if "vault-memory" not in prompt.casefold():
        return prompt
    from vault_memory.agents.frame import stripped  # its patterns take longer to compile than most hooks to answer

    return stripped(prompt)
