"""Owns the English words by which a sentence tells something, and those that tell nothing.

Pure tables for telling.py. Lower case, straight apostrophes.
"""

from vault_memory.text.terms import BASES


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


UNMARKED = _words("become bet cast come cost cut hit hurt let put quit read run set shut split spread")
"""Past forms that look like the verb itself: a past only where something else says so."""

NO_DEEDS = _words(
    """admired appreciated believed belonged cared children cried envied excited feared feet felt figured geese
    guessed
    heard hoped imagined intended knew known knives liked loved meant men mice needed people preferred realised
    realized related shelves supposed teeth thought understood wanted wished wives women wondered worried"""
)
"""Forms of verbs of thinking and feeling, which tell no deed, and plurals that stand in the same table."""

_NO_PASTS = _words(
    """ahead bed beloved bleed breed crowded embed exceed feed hundred indeed kindred naked need proceed red
    sacred seed shed sled speed succeed supposed united weed wicked wed"""
)

PASTS = (_words("was were had did went got gotten made led fed bit been done") | frozenset(BASES)) - NO_DEEDS

STATES_OF_MIND = _words(
    """better carried emotional excited lucky nervous ready sick used advanced aged amazed amused annoyed ashamed
    based bored broken closed combined complicated concerned
    confused convinced delighted depressed detailed determined disappointed done embarrassed exhausted expected
    fascinated fixed given gone impressed improved inspired interested kept known limited lost made mixed moved
    needed overwhelmed planned pleased prepared proposed relaxed relieved required satisfied scared shared shocked
    stressed stuck suggested surprised terrified thrilled tired touched unexpected unfinished unplanned unused
    updated used wasted written"""
) - _words("moved fixed kept lost made shared improved updated closed planned used")
"""Participles that begin a sentence as adjectives: "Tired.", "Based on …"."""

LIKES = _words("adore dislike enjoy enjoyed hate hated like liked love loved prefer preferred")
LIKES_OF_OTHERS = _words("adores dislikes enjoys hates likes loves prefers")

LIVES = _words(
    """attend belong coach collect commute cook cycle drive garden grow have keep live own paint play practice
    practise rent run share sing speak study swim teach train volunteer walk work write"""
)
"""What someone who says "I …" does as a rule."""

LIVES_OF_OTHERS = _words(
    """are attends coaches goes has have is keeps lives live owns plays play runs sings speaks studies study
    teaches turns volunteers was were works work"""
)

NO_DOINGS = _words(
    """amazing asking assuming being boring calling counting doing dying enjoying exciting feeling figuring
    finding getting giving glowing going guessing happening having hoping interesting joking just kidding liking
    looking loving missing not rambling rooting saying sending seeing staying hanging chasing keeping pushing sitting
    smiling something struggling
    thinking trying willing wishing wondering"""
)
"""After "I'm": an -ing that tells of no doing, or too little of it."""

NO_PLANS = _words("be check do get keep look love make miss need say see take think try always never")
"""After "going to": what commits to nothing one could remember."""

RELATIONS = (
    "aunt|baby|birthday|boss|boyfriend|brother|car|cat|colleague|company|cousin|dad|daughter|doctor|dog|family|father"
    "|fianc[eé]e?|flatmate|friend|girlfriend|gran|grandad|grandfather|grandma|grandmother|grandpa|grandson|granddaughter"
    "|house|husband|job|kid|landlord|manager|mentor|mom|mother|mum|name|neighbou?r|nephew|niece|parent|partner|roommate"
    "|sister|son|studio|teacher|therapist|twin|uncle|wife|number|address|flat|apartment|bike|rent"
)

GENERIC = _words(
    """a about absolutely actually after again agree all almost already also always am amazing an and another any
    anyone anything are aren't around as at awesome awful away back bad be beautiful because become been before
    being best better big bit both brilliant but by can can't come cool could couldn't cute day days
    definitely did didn't do does doesn't doing don't done down each else end ended enough even ever every
    everyone everything excellent exciting experience fab fabulous fantastic far feel feeling feels felt few fine
    first for from fun get getting give go going gone good gorgeous great guess guys had happy hard has
    have haven't having he he's her here him his hope how i i'd i'll i'm i've idea if in incredible indeed
    inspiring interesting into is isn't it it's its itself just keep kind kinda know last later least let let's
    life like likely little long look looked looking lot lots lovely make makes man many maybe me means meant
    might mine moment moments more most much must my myself neat never new next nice no none nope not nothing now
    of off oh ok okay on once one only onto or other our out over own perfect perhaps pretty probably put quite
    really remember right said same saw say see seem seemed seems seen sense she should so some someone something
    soon sort special still stuff such super sure sweet take talk tell terrible than thank thanks that that's the
    their them then there there's these they they're thing things think this those though thought time times to
    today together tomorrow tonight too totally true truly try unbelievable under until up us use
    very want wanted was wasn't way we we'll we're we've week weekend weeks well were what when where which
    while who why will wish with wonder wonderful won't worth would wow year years yep yes yesterday yet you
    you'll you're you've your yours month months monday tuesday wednesday thursday friday saturday sunday ago blast
    night morning evening afternoon"""
)
"""Words that say nothing by themselves: a sentence needs two others."""

FOREIGN = _words(
    """att avec av bei che con dans das de dem den der det deze di die dla du een ein eine el els em en es est et
    för för für haben han het hij hon ich ihr ik il inte ist jag je jest kein la las le les los mais med met mig
    mit não nicht niet nie nous och om para pas per por pour på que qui się sono som sur també til très um uma un
    una und van vi voor wir wordt y zijn zu är"""
)
ENGLISH = _words(
    """a about after and are as at back been before but by for from had has have he her his i i'm i've into is it
    its me my of off on our out she that the their them they this to up was we were with you your"""
)


COUNTS = _words("a an no two three four five six seven some my several our")
MINE = _words("i i'm i've i'd i'll we we're we've we'd we'll my our mine")
YOU = _words("you your yours yourself you're you've you'll you'd u")
OWNERS = _words("my our")
NO_SUBJECTS = _words(
    """it it's its that that's this these those there there's he he's she she's they they're they've and but so
    because when while as since after before then one some most many everyone everything nothing all just even
    also another something someone people things here not no with for in on at you your great cool nice love time
    life both each any now"""
)

TAKES_UP = _words("it it's its he he's his she she's her they they're their them that that's this these those")

# How a sentence begins that greets, thanks, asks, wishes, advises or praises; in one word or in two.
HEADS = _words(
    """thank thanks hi hello hey congrats congratulations bye goodbye welcome happy wish wishing hope hoping let's
    lets keep sound sounds look looks glad please if unless what how why who where which whether do does are is
    has can can't could would should may might maybe perhaps imagine remember don't you you're you've you'll your
    to todo idea question q check see"""
)
HEAD_PAIRS = frozenset(
    (first, second)
    for first, seconds in {
        "good": "luck morning night evening job for",
        "did": "you he she it they we i",
        "will": "you it he she they be",
        "no": "worries problem",
        "let": "us me",
        "take": "care",
        "looking": "forward",
        "have": "you",
        "never": "mind",
        "not": "sure",
        "here's": "to",
    }.items()
    for second in seconds.split()
)
INTERJECTIONS = _words(
    """oh wow yeah yes yep yup nope hey hi hello hehe lol ah aw aww awww ooh btw by omg hmm hmmm um umm uh fyi
    whoa yay ugh gosh no nah well so ok okay sure absolutely definitely totally exactly right anyway anyways
    actually honestly true thanks thank awesome cool great nice sweet man of speaking guess you i look listen
    indeed agreed amazing wonderful sorry same good for me fun in luckily unfortunately thankfully haha hahaha"""
)

LEADS = _words(
    "then finally also later today yesterday last night this morning in the afternoon evening just quickly already"
)
"""What may stand before the verb that a line of a log begins with."""

BACK = _words("yesterday ago last")
"""Words of the past: a verb that could be a task's ("Quit …") is none beside them."""

# What must be among the words of a sentence before a pattern is tried: most sentences fail at once.
UNREAL_HINTS = _words(
    "if have i'd we'd wish as yesterday pretend dreamed dreamt dream nightmare going about gonna supposed meant"
)
DECISION_HINTS = _words("decided agreed chose opted settled went picked will going decision")
LIKE_HINTS = LIKES | _words(
    """favourite favorite favourites favorites fav fave faves favs can't cannot fan fond obsessed passionate keen
    into crazy don't do"""
)
BEING_HINTS = _words("i'm am we're are was were been")
NAME_HINTS = _words("name names")
PLAN_HINTS = _words("going gonna about planning set due scheduled plan planned intend appointment")
WILL_HINTS = _words("i'll we'll will shall")
DENIED_HINTS = _words("don't can't cannot not longer")
OFF_HINTS = _words("cancelled canceled postponed called rescheduled")
OTHERS_HINTS = LIKES_OF_OTHERS | _words(
    """moved started stopped quit got bought adopted longer now signed joined passed became born died retired
    graduated sold switched resigned broke split gave pregnant turned lives works dropped hired can't allergic vegan
    vegetarian married moving leaving retiring getting kid kids child children son sons daughter daughters twins"""
)
_MONTHS = "january february march april may june july august september october november december"
DATE_HINTS = (
    _words(f"yesterday tonight tomorrow today last next this ago {_MONTHS} sept")
    | _words("monday tuesday wednesday thursday friday saturday sunday")
    | {name[:3] for name in _MONTHS.split()}
    | {str(year) for year in range(1900, 2100)}
)
TASKS = frozenset(BASES.values()) | _words(
    """add answer apply arrange ask assemble attend back bake book call cancel cash change charge check clean
    clear close collect compare complete contact cook copy create cycle deliver deploy draft email empty explain
    file fill find finish fix follow gather hand help hire install invite iron join label listen look mail measure
    mend merge migrate mount move mow order organise organize pack paint park phone pick plan plant post practise
    prepare print proofread prune publish register release remind renew repair repeat replace reply report request
    research reserve return review rewrite schedule search service ship shop sign sort start stop submit talk test
    text tidy translate try update upgrade upload use visit wash watch water weed weigh wrap"""
)
"""Verbs that a task begins with."""


def is_past(word: str) -> bool:
    """Whether a word in lower case is the past form or participle of a verb that tells a deed."""
    if word.endswith("ed") and len(word) > 4:
        return word not in _NO_PASTS and word not in NO_DEEDS
    return word in PASTS or word in ("used", "tied", "sued", "owed", "aged")


def is_english(words: list[str]) -> bool:
    """Whether lower-case words read as English rather than as one of its neighbours."""
    foreign = len(FOREIGN.intersection(words))
    return foreign < 2 or foreign < sum(word in ENGLISH for word in words)
