"""Owns the words that polarity.py reads by: opposites, synonyms, what denies, ends or hedges. Pure, in English."""

import re


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


OPPOSITES = """
like love enjoy adore fond keen favour favor prefer favourite favorite appreciate / hate dislike detest loathe despise
like glad happy pleased delighted want wish demand insist choose pick opt order wantfor / avoid annoyed complain refuse
trust / distrust mistrust
afraid scared fear frightened / brave fearless
calm relax soothe / nervous agitate stress upset
fast quick rapid swift speedy prompt immediate / slow sluggish
easy simple straightforward effortless / hard difficult complicated complex tricky tough
honest sincere truthful / dishonest cheat deceive insincere
reliable dependable stable robust functions / unreliable flaky unstable fail crash broken break
loud noisy / quiet silent
cheap inexpensive affordable / expensive pricey costly overpriced
right correct / wrong incorrect false mistaken
good well great excellent superb wonderful splendid best better brilliant fine / bad badly poor
good / terrible awful worst worse horrible dreadful lousy
useful helpful handy valuable / useless unhelpful pointless worthless
punctual / late tardy
friendly kind welcoming / unfriendly unkind hostile rude
safe secure harmless / unsafe insecure dangerous risky harmful
careful cautious thorough meticulous / careless reckless sloppy hasty
clean tidy neat / dirty messy filthy untidy
short concise brief terse / long lengthy verbose wordy
big large huge / small little tiny
wet damp moist / dry
strong sturdy / weak feeble flimsy
light bright / dark gloomy
soft gentle tender / harsh rough
rich wealthy / needy
full crowded busy / empty
healthy wholesome / unhealthy
polite courteous / impolite
patient / impatient
generous / stingy
tasty delicious / bland tasteless
interesting exciting fascinating gripping / boring dull tedious
comfortable cosy comfy / uncomfortable
popular / unpopular
accurate precise exact / inaccurate imprecise vague
remember / forget
persist / giveup
accept agree approve / reject disagree oppose
increase rise grow raise / decrease drop fall shrink
diligent hardworking industrious / lazy idle
enough sufficient ample / insufficient
necessary essential vital / unnecessary superfluous
possible feasible / impossible
important / unimportant trivial
legal allowed / illegal forbidden banned
alone / together
toomuch / toolittle
organised organized orderly / disorganised disorganized chaotic
competent capable skilled / incompetent incapable clumsy
modern / outdated obsolete
smooth / bumpy
fresh / stale
sweet / bitter sour
helps heals cures / hurts harms
"""
"""Each line is one attribute, named by its first word: the words for its one side, and those for the other."""

SYNONYMS = """
reply answer respond response
mail email e-mail
buy purchase
child kid
trip journey travel
bike bicycle
ring call phone telephone
cigarette smoke
picture photo photograph
shop store
film movie
doctor physician
house home
quote offer estimate
fix repair mend
use utilise utilize
begin start
explain explanation
learn learner
"""
"""Each line is one thing by several names; which of them is meant no side is taken on."""

ATTITUDES = _set("like trust afraid")
"""Attributes that say nothing without what they are about: who likes tea may hate trains."""

BROAD = _set("good right easy enough important necessary possible useful reliable short big full light increase")
"""Attributes that nearly everything has: of one entity, too, they are said of many things."""

AKIN = {"good": "right", "right": "good"}
"""Attributes that come to the same where all that is said of a thing is one of them: "is fine", "was a mistake"."""

PHRASES = (
    (
        "least not no nothing why well lot course",
        "",
        r"at least|not (?:only|just)|no (?:doubt|wonder|matter|problem)|nothing but"
        r"|why not|as well(?: as)?|a lot|of course",
    ),
    ("order kind kinds sort sorts", "", r"in order to|(?:kind|sort)s? of"),
    (
        "right once within no straight",
        "quickly",
        r"right (?:now|away)|at once|in no time|straight away"
        r"|within (?:the|an|one|two|half an) (?:hour|minutes?)",
    ),
    ("time", "punctual", r"on time"),
    ("evening evenings", "sometimes", r"in the evenings?"),
    ("stop stops", "halts", r"stops?(?= (?:at|in|for|near)\b)"),
    ("any", "anymore", r"any ?more|any longer"),
    ("give gives gave given giving", "giveup", r"g(?:i|a)ve(?:s|n)? up(?: on)?|giving up(?: on)?"),
    ("wait", "enjoy", r"can(?:not|['’]t| not) wait"),
    ("bad complaints", "good", r"not (?:too |so |at all )?bad|no complaints"),
    ("nothing", "best", r"nothing (?:beats|compares to)"),
    ("bad good", "bad", r"(?:a )?bad (?:idea|choice|decision|move)"),
    ("good", "good", r"(?:a )?good (?:idea|choice|decision|move)"),
    ("mistake", "wrong", r"(?<=is |as )(?:an? )?(?:\w+ )?mistake|(?<=re )(?:an? )?(?:\w+ )?mistake"),
    ("sound", "good", r"(?<=is )sound|(?<=as )sound|(?<=re )sound"),
    ("trusted", "unreliable", r"(?:can(?:not|['’]t| not)|could(?: not|n['’]t)|(?:is|are) not to) be trusted"),
    ("trusted", "reliable", r"can (?:always |mostly |usually |generally )?be trusted"),
    (
        "optimistic pessimistic rosy",
        r"\1 unreliable",
        r"((?:estimate|forecast|plan|schedule|projection|figure|deadline)s?\b[^.;,]{0,30}?) "
        r"(?:far |much )?(?:too|overly) (?:optimistic|pessimistic|rosy)",
    ),
    ("better", "excellent", r"could(?: not|n['’]t) be better"),
    ("stand bear abide", "hates", r"(?:can(?:not|['’]t| not)|could(?: not|n['’]t)) (?:stand|bear|abide)"),
    ("no", "useless", r"no (?:use|good)"),
    ("sound noise", "quiet", r"(?:not a|no) (?:sound|noise)"),
    (
        "ask asks asked asking",
        "wantfor",
        r"(?<!being )(?<!be )(?<!is )(?<!was )(?<!are )(?<!were )ask(?:s|ed|ing)? for",
    ),
    ("hard", "diligently", r"(?<=work )hard|(?<=works )hard|(?<=worked )hard|(?<=tried )hard"),
    ("ask asks asked asking", "wonders", r"ask(?:s|ed|ing)? (?:\w+ )?(?:how|what|why|when|where|who)"),
    ("could", "might", r"(?<!nothing )(?<!nobody )could(?= (?:be|have)\b)"),
    ("fed", "annoyed", r"fed up with"),
    ("too", "expensive", r"too dear"),
    ("too", "toomuch", r"too (?:much|many)"),
    ("too", "toolittle", r"too (?:little|few)"),
    (
        "sure certain convinced",
        "nolonger",
        r"(?:not(?: so| quite)? (?:sure|certain|convinced) any ?more|no longer(?: so| quite)? (?:sure|certain"
        r"|convinced)) (?:that|if|whether|of)",
    ),
    (
        "sure certain convinced unsure",
        "doubtful",
        r"(?:not|no longer)(?: so| quite)? (?:sure|certain|convinced)(?: any ?more)?|unsure",
    ),
    ("lie lies lied", "deceives", r"lie[sd]?(?= (?:about|to)\b)|lied"),
    ("like", "resembles", r"(?:looks?|looked|feels?|felt|sounds?|tastes?|smells?|something|nothing|just|is|was) like"),
    ("long", "if", r"as long as"),
    ("break breaks", "pause", r"(?:a|an|lunch|coffee|tea|short) breaks?"),
    ("longer", "nolonger", r"no longer"),
    ("order", "broken", r"out of order"),
    ("ever never", "hardly", r"hardly ever|almost never"),
    ("used", "usedto", r"(?<!is )(?<!was )(?<!are )(?<!got )(?<!get )(?<!am )(?<!were )used to(?= [a-z])"),
    ("work works", "labours", r"works?(?= (?:at|for|with|from|as|on|in|hard|late|together|there|best|well with)\b)"),
    (
        "work works worked working",
        "functions",
        r"work(?:s|ed|ing)?(?=\s*(?:$|[.,;:!]|(?:fine|well|again|perfectly|without|flawlessly|now|every|for us)\b))",
    ),
    ("rather instead place opposed", "insteadof", r"rather than|instead of|in place of|as opposed to"),
    ("favour favor", "favour", r"in favou?r of"),
    ("from", "switchedfrom", r"(?:switch|chang|mov|migrat|convert)(?:ed|es|e|ing)?(?: back| over| away)? from"),
    ("talk talks talked talking", "talkabout", r"talk(?:s|ed|ing)? about"),
)
"""What stands for one word: words of which it has one, the word it stands for, its shape. In the order of reading."""


def _by_trigger() -> dict[str, list[tuple[int, re.Pattern[str], str]]]:
    found: dict[str, list[tuple[int, re.Pattern[str], str]]] = {}
    for place, (triggers, word, shape) in enumerate(PHRASES):
        pattern = re.compile(rf"\b(?:{shape})(?!\w)", re.I)
        for trigger in triggers.split():
            found.setdefault(trigger, []).append((place, pattern, word))
    return found


_BY_TRIGGER = _by_trigger()
_WORD = re.compile(r"[a-z]+")


def joined(text: str) -> str:
    """A text with each phrase that stands for one word written as that word."""
    found = {rule for word in _BY_TRIGGER.keys() & _WORD.findall(text.casefold()) for rule in _BY_TRIGGER[word]}
    for _, pattern, word in sorted(found, key=lambda rule: rule[0]):
        text = pattern.sub(word, text)
    return text


DENYING = _set("not never no hardly barely rarely seldom scarcely neither nor cannot nolonger less usedto")
"""What comes after them, up to the end of its clause, is not so."""

DENYING_ALL = _set("nobody nothing none nowhere")
"""The whole clause they stand in is not so."""

ENDING = _set("nolonger stop quit giveup switchedfrom usedto cease abandon")
"""What comes after them was so, and is over."""

APART = _set("without insteadof than over except despite")
"""What comes after them is set apart from the rest: a thing left out, or the lesser of two."""

BREAKS = _set("but although though because while whereas and since yet so then")
"""Words that begin a clause."""

CONCESSIONS = _set("although though whereas while despite")
"""Words whose clause is not what is said, but what might have spoken against it."""

HEDGES = _set(
    "may might maybe perhaps probably possibly whether if wonder should hope consider plan discuss"
    " talkabout think guess suppose rumour apparently doubt doubtful unless assume expect"
)
"""A clause with one of them tells what is thought of, not what is so."""

DOUBTS = _set("doubt doubtful suppose")
"""An opinion with one of them holds neither way."""

REPEATS = _set("again always usual usually every still exactly anytime typical")
"""What makes of a deed a habit."""

DEEDS = _set(
    "goes going went takes took taking take choose order pick drink eat have go visit watch read play use buy did"
    " lend give plan wear ride swim walk run cook bake listen stay spend sit drive attend keep stick return sing dance"
    " travel"
)
"""What one does with what one likes, and does not do with what one hates."""

CHANGED = _set(
    "now is are was costs cost went raised rose fell changed moved postponed increased reduced lowered dropped"
)
"""Words with which a number is told as the one that holds."""

TELLING = _set(
    "write wrote written say said tell told think thought believe note noted claim state opinion entry view judgement"
    " verdict differently opposite contrary"
)
"""Words for that something was told or held, whatever it was."""

PRONOUNS = _set("he she it they him her them this that his its their hers theirs")
FIRST_PERSON = _set("i we me us my our")
POSSESSIVES = _set("his her their my our your")
ANYBODY = _set("everybody everyone nobody somebody someone people")
OTHERS = _set(
    "brother sister mother father mum dad wife husband son daughter aunt uncle cousin nephew niece friend neighbour"
    " neighbor boss colleague partner girlfriend boyfriend grandmother grandfather grandma grandpa parents children"
    " kids flatmate roommate dog cat team"
)
"""Who is somebody else, though it is one's own."""

AGENTIVE = _set("helps")
"""Attributes of what does it to something: that the back hurt is not said of what helps it."""

DONE = _set("like trust remember persist accept honest helps")
"""Attributes of who does something: where nobody is named before it, the writer does it ("forgot her birthday")."""

PREFIXED = _set("honest like agree organised organized loyal satisfied respectful obedient trust")
"""With `dis` before them the opposite; other words with it ("discuss") are words of their own."""

IDLE = _set(
    "later latest a about above after against all also am an and any are is as at be because been before being below"
    " between both but by can did do does doing down during each either few for from further had has have having he"
    " her here hers herself him himself his how i in into it its itself just let me more most much many must my myself"
    " of off on once one only or other our ours out own per quite rather really same she so some such s t than that"
    " the their theirs them themselves then there these they this those through to too under up upon us very was we"
    " were what when where which while who whom whose why will with within would you your yours yourself anymore ll re"
    " ve d m again always ever even still yet already almost mostly often usually sometimes now today yesterday"
    " tomorrow day days week weeks month months year years time times lately recently thing things something anything"
    " everything someone anyone everyone somebody anybody everybody lot bit thought far nearly though although make"
    " makes made making take takes took taken taking get gets got getting give gives gave given giving go goes went"
    " going gone come comes came coming put seem seems seemed become becomes became say says said bring brings brought"
    " turn turned turns find found since until till people exactly else instead over without except despite new old"
    " whole first last next every fully completely totally actually simply could should might may shall kr eur usd"
    " euro euros dollar dollars"
)
"""Words that say nothing of the attribute."""

NUMBERS = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())  # noqa: SIM905
    if number > 1
} | {"twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "hundred": "100", "thousand": "1000"}

MONTHS = _set("january february march april may june july august september october november december")

SLOT_WORDS = {"live": "lives moved relocated resides based", "work": "works working employed"}
"""By what words one tells the value of a slot of claims.py without a word of the older value."""
