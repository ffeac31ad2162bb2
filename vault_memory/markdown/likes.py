"""Owns by which words an English sentence says what is liked, or thought of something; must not know kinds. Pure.

telling.py asks it, and reads the rest of a sentence in the same patterns.
"""

import re

from vault_memory.markdown import telling_words as table

WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
ADVERBS = (
    r"(?:(?:also|just|finally|recently|even|already|then|really|actually|always|usually|still|only|once|both|all"
    r"|first"
    r"|now|currently|definitely|totally|absolutely|never|often|sometimes|mostly|mainly|officially|soon|either"
    r"|accidentally|quickly|especially) )*"
)
FIRST = re.compile(
    rf"(?<![\w'.-])(?:I|[Ww]e)(?P<aux>'ve| have|'d)? {ADVERBS}(?P<verb>[A-Za-z]+|\d+)\b(?!')(?=(?P<rest>.*))"
)
_ASKED = re.compile(r"\b(?:how|what|who|whom|which|if|whether|everyone|one|ones|people) $")
NO_OBJECT = re.compile(
    r" *(?:it|this|that|these|those|them|when|how|what|the way|to (?:hear|see|know)|you|your"
    r"|(?:a|the) (?:idea|look|sound|thought|colou?rs?|texture|vibe|design))\b"
)
_FAVOURITE = re.compile(r"\b(?:my|our|his|her|their)(?: \w+)? fav(?:ou?rites?|es?|s)?\b|\bfavou?rites? of mine\b", re.I)
_NO_STAND = re.compile(r"\b(?:I|[Ww]e) can(?:'t|not) (?:stand|live without|bear)\b(?! (?:it|this|that|you)\b)")
_FOND = re.compile(
    r"\b(?:I'm|I am|[Ww]e're|[Ww]e are|I've (?:always )?been) (?:(?:really|so|quite|very|super|totally|pretty"
    r"|also) )?"
    r"(?:a (?:big|huge|great|massive) fan of|fond of"
    r"|obsessed with|passionate about|keen on|into|crazy about) (?!it\b|this\b|that\b|you)"
)
DENIED = re.compile(
    r"\b(?:I|[Ww]e) (?:don't|do not|can't|cannot|no longer) (?:really |even |usually |normally )?"
    r"(?P<verb>like|enjoy|eat|drink|own|drive|smoke|play|work|live|watch|celebrate|use)\b(?P<rest>.*)"
)
_THOUGHT = re.compile(
    r"(?:I|[Ww]e)(?: still| really)? (?:think|believe|find|reckon) (?:that )?"
    r"(?!(?:I|we|you|he|she|it|they|this|that)\b)"
    r"[\w@\[][^,;:]{1,60}? (?:is|are|was|were) (?:not |still |also |much |far |a |an |the |really |very )*"
    r"(?:too \w+|more \w+|less \w+|better|best|worse|worst|good|bad|right|wrong|great|fine|worth|enough|overrated"
    r"|(?!(?:other|over|under|after|ever|never|either|later|earlier|water|together|sober|older|younger)\b)"
    r"[a-z]{3,}er(?! [a-z]))\b"
)
"""What somebody thinks of a thing, in a word that says how good or how much: "I think the new host is faster"."""


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return WORD.findall(text.lower())


def prefers(text: str) -> bool:
    """Whether a sentence tells what its writer likes."""
    if _FAVOURITE.search(text) or _NO_STAND.search(text) or _FOND.search(text):
        return True
    likes = (m for m in FIRST.finditer(text) if m["verb"].lower() in table.LIKES and m["aux"] != "'d")
    match = next((m for m in likes if not _ASKED.search(text, 0, m.start())), None) or DENIED.search(text)
    if match and match.re is DENIED and match["verb"] not in table.LIKES:
        return False
    return (
        match is not None
        and not NO_OBJECT.match(match["rest"])
        and not table.GENERIC.issuperset(words_of(match["rest"]))
    )


def thinks(text: str) -> bool:
    """Whether a sentence says what its writer thinks of something."""
    return _THOUGHT.match(text) is not None
