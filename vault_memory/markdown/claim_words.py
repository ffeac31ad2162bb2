"""Owns the words and the shapes of sentences that claims.py reads by. Pure tables, in English.

Two sorts of sentence are told apart: a *slot* holds one value at a time (where someone lives, a rent), a *state* holds
beside others (uses, likes).
"""

import re


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


MARKUP = re.compile(
    r"@?\[\[(?:[^\[\]|]*\|)?([^\[\]|#]+)(?:#[^\[\]|]*)?\]\]|(?<!\w)@(?=\w)|[*`_]{1,2}(?=\S)|(?<=\S)[*`]{1,2}"
)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z])")
ASIDE = re.compile(r"\s*\([^()]*\)|,?\s+\b(?:because|so that|which|although|though)\b.*$", re.I)
# What is not (yet, any more, always, alone) the case claims nothing that could be ended or end anything.
OPEN = re.compile(
    r"\?|[\"“”„]|\b(?:will|would|wants?|wanted|plan(?:s|ned|ning)? to|hop(?:es|ed|ing) to|might|could|should"
    r"|consider\w*|think(?:s|ing)?|thought|going to|used to|maybe|perhaps|probably|likely|if|unless|once|until|till"
    r"|except|sometimes|often|usually|also|too|both|either|another|second|besides|additionally|as well|other|says?|said"
    r"|told|heard|claims|that|had|were|formerly|previously|originally|for a (?:week|while|month|day)|temporarily|almost"
    r"|nearly|mostly|about to|some of|one of|half)\b|\bmay\b(?! \d)",
)
WAS = re.compile(r"\bwas\b(?! (?:raised|increased|reduced|lowered|changed|cut|moved|renamed|promoted))")
CHANGE = re.compile(r"\b(?:now|nowadays|instead|any ?more|these days|from now on|as of|again)\b", re.I)
NEGATED = re.compile(
    r"\b(?:not|never|neither|nor|none|nothing|nobody|hardly|barely|rarely|seldom|cannot)\b|n['’]t\b", re.I
)
"""What is not so says nothing of what is; only that something is over, when it says that."""

# --- words of time at the end of a sentence --------------------------------------------------------------------------

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_DATE = (
    r"(?:\d{4}-\d\d(?:-\d\d)?|(?:19|20)\d\d|(?:last|this|next) (?:week|month|year|spring|summer|autumn|winter|"
    + _WEEKDAY
    + r")|(?:(?:early|late|mid|last|next) )?(?:\d{1,2}\.? )?(?:"
    + _MONTHS
    + r")\b,?(?: \d{1,2}\b,?)?(?: (?:19|20)\d\d)?|(?:spring|summer|autumn|winter) (?:19|20)\d\d|"
    + _WEEKDAY
    + r"\b)"
)
TAIL = re.compile(
    r"[\s,]+(?:now|nowadays|instead|any ?more|these days|from now on|again|at the moment|at present|currently)$", re.I
)
"""Adverbs that are no part of a value and bound nothing."""

START = re.compile(rf"[\s,]+(?:since|as of|from|starting(?: from| in| on)?|effective) (?P<day>{_DATE})$", re.I)
BEGIN = re.compile(rf"^(?:since|as of|from|starting(?: from| in| on)?|effective) (?P<day>{_DATE}),? (?=\S)", re.I)
"""When something begins, behind or before what is said."""

END = re.compile(
    rf"[\s,]+(?:until|till|up to|through) (?:the )?(?:(?:end|middle|start|beginning) of )?(?:the )?{_DATE}$", re.I
)
HAPPENED = re.compile(
    rf"[\s,]+(?:(?:in|on|at|during) {_DATE}|yesterday|today|(?:last|this|next) (?:week|month|year))(?=$|,)", re.I
)
"""When something changed: no part of a value where a sentence tells of a change."""

EVENT = re.compile(
    r"\b(?:switch|chang|migrat|mov|convert|relocat|rose|risen|went|gone|fell|drop|increas|rais|reduc|lower|cut|stopped|quit"
    r"|gave up|given up|left)",
    re.I,
)
_PREPOSITION = "in|on|at|for|during|over|by|through|throughout|outside|within|from|until|till|after|before"
_TIMES = (
    rf"(?:{_WEEKDAY}s?|{_MONTHS}|(?:19|20)\d\d|weekdays?|weekends?|mornings?|noon|lunchtime|afternoons?|evenings?|nights?"
    r"|midnight|days?|weeks?|months?|quarters?|years?|springs?|summers?|summertime|autumns?|winters?|wintertime|holidays?"
    r"|vacations?|term|semesters?|seasons?|christmas|easter|advent|ramadan|rush hours?)"
)
AT_TIMES = re.compile(
    rf"[\s,]+(?:(?:only|mainly|just|mostly) )?"
    rf"(?:(?i:(?:(?:{_PREPOSITION}) )?(?:the )?(?:every|each|this|next|last)|{_PREPOSITION})"
    rf"(?: (?!(?:{_PREPOSITION}|every|each|this|next|last)\b)[a-z0-9][\w.-]*){{0,4}}? (?i:{_TIMES})\b.*"
    r"|(?i:when|whenever|while|during) .+"
    r"|(?i:yesterday|today|tonight|tomorrow|daily|weekly|monthly|yearly|at times|on and off|part[ -]time))$"
)
"""At certain times only: such a claim is beside the one that holds always, never against it."""

AT_PLACES = re.compile(
    r" (?:in|on|at|for|from|during|with|by|under|via|within|outside|after|before|when|until|as long as|per)\b .+$"
)
"""In one place or for one thing only."""

LEAD = re.compile(r"^(?:(?:now|nowadays|currently|these days|today|from now on),? )+", re.I)
PRONOUNS = _set("he she they it i we")
NO_SUBJECT = _set(
    "a an some one two three many most people everyone everybody someone no all every each any several few this these"
    " there here what who"
)
ARTICLES = _set("a an the his her their its my our your of")
ADVERBS = r"(?:(?:has|have|is|are|now|currently|nowadays|just|recently|finally|already|officially|really|still) )*"
WHO = r"(?P<who>(?:[^\s,;:]+ ){0,4}?)"

NUMBER = re.compile(
    r"(?P<pre>(?:[a-z]{2,3}|[$€£¥])\s?)?(?P<number>\d(?:[\d.,'’  ]*\d)?)\s?"
    r"(?P<unit>%|[€$£¥]|[^\W\d_]+(?:(?: an?| per|/) ?\w+)?)?$",
)
TIME_VALUE = re.compile(
    r"(?:(?:on|at|for) )?(?:\d{1,2}:\d\d|\d{4}-\d\d-\d\d|(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?,? ?)?"
    r"(?:\d{1,2}\.? )?(?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"(?: \d{1,2})?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)(?:,? (?:at )?[\d:. apm]+)?",
)
NAMED = _set(
    "manager boss supervisor doctor dentist partner wife husband landlord employer owner maintainer lead editor"
    " provider supplier capital hometown surname"
)
"""Attributes whose one value is a name."""

CODED = _set(
    "phone telephone mobile number address email rate rent salary price fee budget version release port limit quota"
    " weight height temperature iban"
)
"""Attributes whose one value holds a digit or an `@`."""

WORDED = _set(
    "birthday job title role position deadline timezone status location username login nickname size color colour"
    " default password passphrase"
)
"""Attributes with one value in any words."""

SINGLE = NAMED | CODED | WORDED
"""Attributes with one value at a time; others only where the value is a number."""

PARTICLES = _set("de da del della di van von der den af av la le du bin ibn al el y")
ADJECTIVES = _set(
    "american arab australian austrian belgian brazilian british bulgarian canadian catholic chinese croatian czech"
    " danish dutch egyptian english estonian european finnish french german greek hindu hungarian icelandic indian"
    " iranian iraqi irish israeli italian japanese jewish kenyan korean latvian lithuanian mexican muslim"
    " nigerian norwegian pakistani persian polish portuguese romanian russian scottish serbian slovak spanish"
    " swedish swiss syrian thai turkish ukrainian vietnamese welsh"
)
"""Capitalised, and no name."""

VAGUE = _set(
    "good bad fine ok okay great nice wrong right broken high low same different new old unknown unclear late early"
    " here there hard easy important missing gone private secret"
)
"""What is said of a value instead of one."""

EPISODES = _set(
    "bill invoice quote run swim trip ride walk meeting visit lunch dinner breakfast ticket order match game score"
    " weather delivery flight train call session test result lap time photo order purchase payment claim estimate"
)
"""What each happening has its own of: two bills are two bills."""

HABITS = _set(
    "use drink eat drive play smoke take own rent wear read watch speak study attend ride practise practice support"
    " maintain run teach sing paint collect follow host deploy work employ subscribe train coach tolerate need"
)
NO_PLACES = _set(
    "slack google github gitlab postgres postgresql sqlite mysql linux windows macos mac android iphone notion obsidian"
    " teams zoom discord signal whatsapp telegram marketing sales engineering finance product design support research"
    " operations hr legal it management python rust go java aws azure kubernetes docker helix emacs vim"
)
"""What one moves to without moving house."""

LIKES = _set("like love enjoy adore favour favor")
HATES = _set("hate dislike detest loathe")

# --- the shapes of sentences ---------------------------------------------------------------------------------------

MOVED_FROM = re.compile(
    rf"{WHO}{ADVERBS}(?P<verb>switch|chang|migrat|mov|convert|relocat|rose|went|fell|drop|increas|rais|reduc)\w*"
    r"(?: (?:up|down|over|back|away))? from (?P<old>.+?) to (?P<new>.+)", re.I,
)  # fmt: skip
MOVED_TO = re.compile(
    rf"{WHO}(?:{ADVERBS})(?:was |is )?(?:moved|moves|relocated|relocates) (?:back )?to (?P<new>.+)", re.I
)
LIVES = re.compile(rf"{WHO}{ADVERBS}(?:lives?|living|resides?|residing|based) (?:in|at) (?P<new>.+)", re.I)
WORKS = re.compile(rf"{WHO}{ADVERBS}(?:works?|working|employed) (?:at|for|by) (?P<new>.+?)(?: as .+)?", re.I)
LEFT = re.compile(rf"{WHO}(?:has |have )?(?:left|quit) (?P<old>[\w&. -]+)", re.I)
NO_LONGER = re.compile(rf"{WHO}(?P<is>is |are |am )?no longer (?P<rest>.+)", re.I)
NOT_ANY_MORE = re.compile(rf"{WHO}(?P<is>is|are|am|does|do)(?: not|n['’]t) (?P<rest>.+)", re.I)
STOPPED = re.compile(rf"{WHO}(?:has |have )?(?:stopped|quit|given up|gave up) (?P<verb>\w+ing)\b ?(?P<rest>.*)", re.I)
GAVE_UP = re.compile(rf"{WHO}(?:has |have )?(?:given up|gave up) (?:on )?(?P<old>.+)", re.I)
PREFERS = re.compile(
    rf"{WHO}{ADVERBS}prefers? (?P<new>.+?)(?:,? (?:over|to|instead of|rather than) (?P<old>.+?))?"
    r"(?P<context> (?:for|when|as) .+)?", re.I,
)  # fmt: skip
IS = re.compile(
    r"(?P<who>(?:[^\s,;:]+ ){0,6}?)(?:is|are|costs?|comes to|amounts to)(?: now| currently)? (?P<new>.+)", re.I
)
WENT = re.compile(
    r"(?P<who>(?:[^\s,;:]+ ){1,6}?)(?:has |have )?(?:was |been )?(?:rose|risen|went up|gone up|went down|gone down"
    r"|dropped|fell|raised|increased|reduced|lowered|changed|cut)(?: from .+?)? to (?P<new>.+)", re.I,
)  # fmt: skip
BEST = re.compile(
    r"(?P<new>(?:[^\s,;:]+ ){1,4})is (?:now )?the (?:right|best|better|proper|preferred) (?P<what>\w+ (?:for|to) .+)",
    re.I,
)
BEST_IS = re.compile(
    r"the (?:right|best|better|proper|preferred) (?P<what>\w+ (?:for|to) .+?) is (?:now )?(?P<new>(?:\S+ ?){1,4})", re.I
)
OF_ONE = re.compile(rf"{WHO}{ADVERBS}(?P<what>reports to|married to|engaged to|assigned to) (?P<new>.+)", re.I)
DISLIKES = re.compile(
    rf"{WHO}(?:(?:does|do)(?: not|n['’]t)|can(?:not|['’]t)) (?:like|love|enjoy|stand|bear) (?P<rest>.+)", re.I
)
