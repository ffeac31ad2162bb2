"""Owns the English words whose forms no stemmer joins: irregular verbs and plurals. A pure table.

A text that says "bought" is searchable as "buy" too, so that "what did Ann buy?" finds "Ann bought a canoe". Forms that
are as often another word (bit, ground, lay, led, lives, rose, wound) are left alone.
"""

import re

_FORMS = """
bear bore borne|beat beaten|become became|begin began begun|bend bent|bite bitten|bleed bled|blow blew blown
break broke broken|bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen|come came
creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten
fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown|forbid forbade forbidden
forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|give gave given|go went gone|grow grew grown
hang hung|hear heard|hide hid hidden|hold held|keep kept|kneel knelt|lay laid|learn learnt|leave left|lend lent
light lit|lose lost|make made|mean meant|meet met|pay paid|ride rode ridden|ring rang rung|run ran|say said
see saw seen|seek sought|sell sold|send sent|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk
sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spend spent|spill spilt|spin spun
spoil spoilt|stand stood|steal stole stolen|stick stuck|strike struck|swear swore sworn|sweep swept|swim swam swum
take took taken|teach taught|tear tore torn|think thought|throw threw thrown|understand understood|wake woke woken
wear wore worn|weep wept|win won|write wrote written|child children|foot feet|goose geese|knife knives|man men
mouse mice|person people|shelf shelves|tooth teeth|wife wives|woman women
"""

_ROWS = (row.split() for row in re.split(r"[|\n]", _FORMS.strip()))
BASES = {form: base for base, *forms in _ROWS for form in forms}
"""Irregular form → the word it is a form of, both in small letters."""

_FORMED = frozenset(BASES)
_NO_LETTERS = {n: " " for n in range(128) if not chr(n).isalpha()} | dict.fromkeys(map(ord, "’‘“”„«»…–—"), " ")


def bases(text: str) -> list[str]:
    """The base of each irregular form in a text, each once, in a fixed order."""
    found = _FORMED.intersection(text.lower().translate(_NO_LETTERS).split())
    return sorted({BASES[form] for form in found}) if found else []
