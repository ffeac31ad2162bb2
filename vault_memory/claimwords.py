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
    r"|consider\w*|think(?:s|ing)?|thought|going to|used to|maybe|perhaps|probably|likely|if|unless|once|until|except"
    r"|sometimes|often|usually|mostly|also|too|both|either|another|second|besides|additionally|as well|other|says?|said"
    r"|told|heard|claims|that|had|were|formerly|previously|originally|for a (?:week|while|month|day)|temporarily|almost"
    r"|nearly|about to|some of|one of|half)\b|\bmay\b(?! \d)",
)
WAS = re.compile(r"\bwas\b(?! (?:raised|increased|reduced|lowered|changed|cut|moved|renamed|promoted))")
CHANGE = re.compile(r"\b(?:now|nowadays|instead|any ?more|these days|from now on|as of|again)\b", re.I)
TAIL = re.compile(
    r"[\s,]+(?:now|nowadays|instead|any ?more|these days|from now on|again|today|at the moment|currently"
    r"|(?:since|as of|from|starting|in|on) (?:(?:early|late|mid|last|this|next) )?(?:\d{1,2}\.? )?(?:(?:january"
    r"|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday"
    r"|saturday|sunday|spring|summer|autumn|winter|year|month|week)\b,?)?(?: ?\d{1,2},?)?(?: ?(?:19|20)\d\d)?"
    r"|(?:in )?(?:19|20)\d\d)$",
    re.I,
)
LEAD = re.compile(r"^(?:(?:now|nowadays|currently|these days|today|as of [\w ]+|since [\w ]+|from now on),? )+", re.I)
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
SINGLE = _set(
    "phone telephone mobile number address email password passphrase birthday surname job title role position manager"
    " boss supervisor doctor dentist partner wife husband landlord employer rate rent salary price fee budget deadline"
    " version release port timezone status location quota limit username login nickname hometown capital owner"
    " maintainer lead editor size weight height temperature iban colour color default provider supplier"
)
"""Attributes with one value at a time, whatever the value; others only where the value is a number."""

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
OF_ONE = re.compile(rf"{WHO}{ADVERBS}(?P<what>reports to|married to|engaged to|assigned to) (?P<new>.+)", re.I)
DISLIKES = re.compile(
    rf"{WHO}(?:(?:does|do)(?: not|n['’]t)|can(?:not|['’]t)) (?:like|love|enjoy|stand|bear) (?P<rest>.+)", re.I
)
