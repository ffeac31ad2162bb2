"""The words of five languages that mark a statement as worth keeping, or as not: one table a language.

Each entry is a regular expression over a sentence in small letters; none looks at what the sentence is about. Requests
to remember are known in all of them, whatever languages the settings name.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple


class Cue(NamedTuple):
    """What a statement with this mark is: its kind (W, B, O) and category, and how surely it is to be kept (0..1)."""

    name: str
    kind: str
    category: str
    certainty: float


REQUEST = Cue("request", "S", "patterns", 1.0)
PROFILE = Cue("profile", "W", "profile", 0.8)
PREFERENCE = Cue("preference", "O", "preferences", 0.8)
RULE = Cue("rule", "S", "patterns", 0.8)
CAUSE = Cue("cause", "B", "cases", 0.8)
CHANGE = Cue("change", "B", "events", 0.7)
DEADLINE = Cue("deadline", "B", "events", 0.7)
FACT = Cue("fact", "W", "entities", 0.7)
CORRECTION = Cue("correction", "W", "entities", 0.8)
ANSWER = Cue("answer", "W", "entities", 0.5)
"""What answers a question of the agent's; no word marks it, so that the gate has a say as well."""


def _joined(lines: str) -> str:
    """A pattern that is written over several lines."""
    return "".join(map(str.strip, lines.splitlines()))


TABLE: Mapping[str, Mapping[Cue, str]] = {
    "en": {
        REQUEST: _joined(r"""
            (?:(?:always|also|do|please|just|(?:can|could|would|will) (?:you|u)|you (?:could|would|can|should|must)|
            i(?:'d like| want| need) you to) )*(?:remember|memori[sz]e|(?:keep|bear)(?: this| that| it)? in (?:mind|
            memory)|(?:don'?t|never)(?: let me)? forget|(?:make|take|keep) (?:an? )?(?:mental )?note(?: of)?|
            note(?=:)|note (?:this|that|it|down|to self|for (?:later|next time|the (?:future|notes?|record)))|
            (?:jot|write|note|put)(?: this| that| it)? down|(?:put|add|save|store|commit|write|
            file)(?: this| that| it)? (?:in|to|into|under|for)(?: your| ur| the| my| our)? (?:notes?|memory|
            memories|later|next time|future|record)|(?:log|record|save|store|memo)(?: this| that| it)?(?=:| that)|
            (?:one thing )?for(?: the| your| my)? (?:future(?: \w+)?|next time|record|notes?)|(?:in|
            for) (?:the )?future(?: \w+)?(?=,)|next time(?=[,:]| (?:just|please|do|don't|always|never)\b)|
            from (?:now|here|today|this point) (?:on(?:wards?)?(?: out)?|forward)|going forward|henceforth|(?:new|
            standing|house|ground|hard|team|general) (?:rule|instruction|order|policy)(?=:)|
            get(?: this| that| it)? (?:in|into|through|inside) (?:your|ur) (?:thick )?(?:head|skull)|
            worth (?:remembering|noting|knowing|writing down)|(?:just )?so (?:that )?you(?:'ll)? (?:know|remember|
            don'?t (?:have to )?ask)(?: this| me)?(?: for next time| next time| again| for later| in future)|
            you should know|n\.?b\.?(?=:))\b(?: (?:this|that|it|of|please|down|in mind|for (?:later|next time|
            (?:the )?future|the record)|next time|forever|too)\b)*(?! (?:to|when|how|if|where|why|who|what|whether|
            the time|me|us|you)\b)(?: that\b)?
        """),
        PROFILE: _joined(r"""
            \bi(?:'m| am) (?:an? |the |on |from |based |allergic|vegan|vegetarian|left-handed|[\w-]*(?:blind|
            deaf)\b)|\bi(?:'ve got| have) an? (?:[\w-]+ ){0,2}(?:allergy|intolerance|condition|daughter|son|dog|cat|
            wife|husband|brother|sister|child|kid)\b|\bi (?:live|work|study|teach)\b|\bmy (?:wife|husband|partner|
            son|daughter|boss|manager|birthday|timezone|time zone)\b|\bof us (?:in|at|on)\b|\b(?:mon|tues|wednes|
            thurs|fri|satur|sun)days? i\b|\bi\b.* on (?:mon|tues|wednes|thurs|fri|satur|sun)days?|\bi (?:can'?t|
            cannot|don'?t|do not) (?:eat|drink|drive|read|hear|speak|fly|own|have a)\b|\bi (?:own|run|teach|study|
            speak|play|train|work) (?:a |an |the |in |at |for |as |nights|\w+)|\bi'?m (?:allergic|intolerant|
            married|deaf|blind|colou?r)|\bmy (?:(?:[\w-]+ )?(?:brother|sister|mother|father|mum|mom|dad|parents|
            kids?|children|cousin|uncle|aunt|niece|nephew|colleague|neighbou?r|landlord|assistant|accountant|doctor|
            dentist|client|name|surname|address|email|laptop|keyboard|shell|editor)) (?!says?|said|thinks?|asked|
            wrote)
        """),
        PREFERENCE: _joined(r"""
            \bi(?:'d| would)? (?:\w+ )?(?:prefer|rather)\b|\b(?:prefers|likes|dislikes|hates|loves)\b|
            \bi (?:really |much |always )?(?:like|love|hate|dislike|avoid|can'?t stand) (?!you|it|that|this|how|
            the idea)|\bi (?:don'?t|do not|never|always|usually) (?!think|know|see|get|forget|said|understood|
            noticed|knew|meant|recall|remember|understand|want|need|have|mind|care|believe|mean|seem|really|
            even)\w+|\bi(?:'m| am) (?:not )?a fan|\bmy fav\w+|\bplease (?:don'?t|never|always)\b|\bsuits me\b|
            \bworks best for me\b
        """),
        RULE: _joined(r"""
            \b(?:always|never|hard rule|by convention|policy|must(?: not|n'?t)?|nothing but|only ever|(?:is|
            are)(?: not|n'?t) allowed|no \w+ (?:anywhere|at all|ever)|instead of|in this (?:repo|project|team|
            codebase)|we (?:only|don'?t|do not|usually|generally)|our (?:convention|standard|rule|default|style))\b|
            \bonly (?:with|through|via)\b|^(?:(?:please|and|but) )?(?:don'?t ever|never|stop \w+ing\b(?! (?:it|that|
            this|now)\b)|no more)\b|^(?:don'?t|do not) .*\b(?:directly|by hand|without|unless|anywhere|on \w+days|
            any\b(?!thing|more)|(?:,|;|because|since) (?:we|the|it|that|our|my))|\b(?:nobody|no one|nothing|
            none)(?: else)? (?:but|except|other than|may|can|is|gets?|goes)\b|^(?:only|every|each|all|any|
            no).*\b(?:(?:has|have|need|needs|ought) to|may|can|must|should|goes?|gets?|carry|carries|comes?|ships?|
            stays?|starts?|begins?|ends?|uses?|takes?)\b|^all [\w ]+ (?:is|are) (?!done|good|fine|green|set|there|
            ok)|\b(?:(?:does|do) not|doesn'?t|don'?t) (?:allow|accept|permit|support|deliver|ship)\b|
            \b(?:every(?:where| time)|whenever|as a rule|at (?:the )?(?:most|least)|(?:is|are) (?:mandatory|
            forbidden|banned|off limits|optional|required|reserved for))\b|^(?!i |we |you )[\w' -]+ (?:has|
            have) to\b|\bno \w+(?: \w+)?,? (?:and )?no \w+|\bnamed only\b|\b(?:how (?:i|we) (?:work|do (?:it|things|
            this)|like (?:it|things)|want (?:it|things)))\b
        """),
        CAUSE: _joined(r"""
            \b(?:fixed|solved|resolved|cured) (?:it|that|this)\b|\b(?:the|root) (?:cause|culprit|reason|trick|fix|
            workaround)\b|\bturn(?:s|ed) out\b|\b(?:was|is|were) (?:caused by|due to|because)\b|
            \bthe \w+ was \w+ing\b|\b(?:what (?:helped|fixed|solved|cured|worked|did (?:it|the trick))|(?:cured|
            fixed|solved) (?:it|that|this)|did the trick|(?:cause|culprit|reason|fix|cure|solution|remedy|
            answer) (?:is|was|turned out))\b|^(?:fixed|solved|resolved|cured|worked around) (?:it )?by\b|
            \b(?:fail\w*|broke|breaks|crash\w*|hung|stall\w*|stopped) (?:\w+ )*because\b
        """),
        CHANGE: _joined(r"""
            \bwe(?:'ve| have)? (?:just )?(?:moved|switched|migrated|changed|decided|agreed|dropped|renamed|settled|
            chose|picked|replaced)\b|\b(?:left|joined) (?:the|our) (?:team|company|project)\b|
            \bi(?:'ve| have)? (?:decided|agreed|moved|switched)\b|\b(?:no longer|any ?more)\b|\b(?:has|
            have) taken over\b|\bsince (?:the|last|DATE)|\blet'?s (?:go|stick|stay) with\b|\b(?:we|i)(?:'re| are|
            'm| am)? (?:going|sticking|staying) with\b|\bwe(?:'ll| will) (?:use|gowith|stick (?:to|with)|stay (?:on|
            with)|keep|drop|call|switch to|move to)\b|^(?:decision|decided|agreed|settled|final(?: (?:decision|
            answer|call))?)\b ?[:,–-]|\b(?:i|we)(?:'ve| have)? (?:finally )?(?:settled|decided|chosen|chose|picked|
            opted|agreed|committed|signed)\b|\b(?:as of|starting(?: in| from| on)?|effective|from) (?:DATE|MONTH|
            next (?:month|year|quarter|season|term)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|
            winter|january|february|march|april|june|july|august|september|october|november|december)\b
        """),
        DEADLINE: _joined(r"""
            DATE|\b(?:deadline|due) (?:is|on|by)\b
        """),
        FACT: _joined(r"""
            \b(?:owns|is responsible for|(?:is|'s) in charge of|takes care of|looks after|maintains|(?:is|
            are) called|belongs? to|agreed to|stands for|reports to)\b|\bwe(?:'re| are)? (?:use|using|run on|
            deploy)\b|\b(?:lives?|runs?|is hosted|is stored|is deployed|is located|sits) (?:in|at|on|under)\b|
            \bour \w+ (?:is|are)\b|\b(?:is|are|gets?|be) (?:(?:always|only|usually|kept|also) )?(?:stored|kept|
            written|counted|measured|billed|paid|numbered|hosted|served|generated|locked|limited|based|valid|
            reserved|named|owned|managed|maintained|backed|signed|served|sold|priced|delivered|printed|rounded|
            archived|deployed|responsible|short for|allergic|due|closed on|open on)\b|\b(?:is|are) (?:our|my|
            the one (?:who|that)|the (?:only|main|official|new)|known as|called|named|an? [\w-]+ (?:in|at|on|from|
            with|under|for|of|who|that))\b|\b(?:every|each) (?:other )?(?:(?:mon|tues|wednes|thurs|fri|satur|
            sun)day|morning|evening|night|day|week|month|quarter|year|spring|summer|autumn|fall|winter|january|june|
            second|first|last)|\b(?:weekly|monthly|nightly|quarterly|yearly|annually|on (?:week(?:days|ends)|(?:mon|
            tues|wednes|thurs|fri|satur|sun)days))\b|\b(?:lives?|runs?|sits?|goes|meets?|opens?|closes?|costs?|
            expires?|renews?|arrives?|starts?|ends?|begins?|lasts?) (?:at|on|in|under|every|to|from|behind|next|
            between|for|\d|with|after|before)\b|\b(?:needs|requires|allows|accepts|speaks|signs|approves|handles|
            delivers|supports|covers|pays|bills|reviews|decides|manages|leads|stands for|means|does (?:the|all|our|
            payroll)|comes (?:in|with|from|as|out)|takes (?:over|about|\d|care|only|an? (?:hour|day|week)))\b|
            ^our \w+|\bends on\b|\b(?:for us|with us|around here|in (?:our|this) (?:house|shop|office|kitchen|team|
            company|place|department))\b|, [\w ]+ here[.!]?$|\bwe(?:'re| are) (?:on|with) [\w ]+ now\b|\b(?:is|are|
            's) (?:\w+ )?(?:banned|forbidden|off limits|taboo)\b|\b(?:is|are) for (?:the )?\w+ (?:only|alone)\b|
            \b\w+ (?:=|stands for|is short for) \w+
        """),
        CORRECTION: _joined(r"""
            \b(?:is|are|'s|was|were|be|goes|comes?|runs?|use[sd]?|takes?|means?|in|on|at|with|by|
            to)\b.*, (?:and )?not (?:the )?\w+[\w'./ -]{0,30}[.!]?$|^(?:use|say|write|call (?:it|
            them)) .*(?:, not| instead of| rather than) |\bnot .{2,40}, (?:but|it'?s)\b|
            \bit'?s [\w' ]+,? not [\w' ]+$
        """),
    },
    "de": {
        REQUEST: _joined(r"""
            (?:(?:bitte|und|auch) )*(?:für immer )?(?:merk(?:e|en|'s|t)?|notier(?:e|en)?|schreib(?:e|en)?(?= (?:dir|
            auf|das|es))|speicher(?:e|n)?(?= (?:dir|das|ab))|behalt(?:e|en)?|halte?(?= (?:\w+ )?fest)|
            vergiss(?: bitte)? nicht|nicht vergessen|denk(?:e|en)?(?: bitte)? (?:dran|daran)|im hinterkopf behalten|
            ab (?:jetzt|sofort|heute)|von nun an|von jetzt an|in zukunft|künftig|zukünftig|
            fürs? (?:das )?nächste mal|beim nächsten mal|für (?:später|die zukunft|die akten)|zum merken|
            wichtig für später|neue regel(?=:)|du solltest wissen)\b(?: (?:dir|euch|das|es|auf|ab|dies|bitte|fest|
            im (?:kopf|hinterkopf)|mal|auch|für (?:später|das nächste mal|die zukunft))\b)*(?:,? dass\b)?
        """),
        PROFILE: _joined(r"""
            \bich (?:bin (?:allergisch|farbenblind|vegetarier\w*|veganer\w*|linkshänder\w*|von beruf|in|bei|auf)|
            wohne|arbeite|studiere|lebe)\b|\bich habe? eine? (?:\w+ )?(?:allergie|tochter|sohn|hund|katze|frau|mann|
            bruder|schwester)|\bmeine? (?:frau|mann|sohn|tochter|chef\w*|geburtstag)\b|\b(?:montag|dienstag|
            mittwoch|donnerstag|freitag|samstag|sonntag)s\b|\bich (?:vertrage|esse|trinke|habe) (?:\w+ )?(?:kein\w*|
            nicht)\b|\bmeine? (?:\w+ )?(?:bruder|schwester|mutter|vater|eltern|kinder|kolleg\w+|freund\w*|
            nachbar\w*|vermieter\w*|ärzt\w+|arzt|name|adresse)\b
        """),
        PREFERENCE: _joined(r"""
            \bich (?:mag|bevorzuge|hasse|nehme lieber|arbeite lieber|möchte (?:immer|nie|kein\w*)|will (?:immer|nie|
            kein\w*))\b|\bmir ist .+ lieber\b|\b(?:schreiben|machen|nutzen|verwenden|sagen|nehmen) wir\b|
            \bwir (?:hier|bei uns)\b|\bso (?:arbeite|mache?|mag|will|möchte) (?:ich|wir)\b
        """),
        RULE: _joined(r"""
            \b(?:immer|nie(?:mals)?|grundsätzlich|ausschließlich|nur (?:noch )?(?:mit|über|per|auf|in)|
            darf(?:st)? (?:\w+ )?(?:nicht|nichts|kein\w*)|nichts verloren|verboten|statt|kein\w* \w+ (?:in|im|auf)|
            (?:unsere|die) regel)\b|\b(?:jede[rsnm]?|alle[nrs]?|niemand|keiner|nur|höchstens|mindestens|spätestens|
            maximal)\b.*\b(?:muss|müssen|darf|dürfen|soll(?:en)?|ist|sind|haben?|gehen|geht|werden|wird|kommt|
            kommen|bekommt|gilt)\b|\b(?:muss|müssen|darf|dürfen|soll(?:en)?)\b.*\b(?:jede[rsnm]?|alle|nur|höchstens|
            mindestens|spätestens|maximal|kein\w*)\b|\bbei uns\b|\bstatt(?:dessen)?\b|\bbitte (?:kein\w*|nie|
            nicht mehr)\b|\bes gilt\b
        """),
        CAUSE: _joined(r"""
            \b(?:läuft (?:es|das)|lag (?:es )?(?:an|daran)|ursache|hat (?:es )?(?:geholfen|behoben|gelöst)|
            grund (?:war|ist)|behoben|gelöst)\b|\bes lag\b|\b(?:grund|ursache|lösung|fehler) (?:war|ist)\b|
            \bschuld (?:war|ist)\b|\bgeholfen hat\b|\b(?:hat|haben) (?:\w+ )?geholfen\b|\b(?:ging|lief|
            klappte) nicht, weil\b
        """),
        CHANGE: _joined(r"""
            \b(?:sind|haben|hat|ist) (?:[\w.-]+ ){0,4}(?:umgestiegen|gewechselt|entschieden|beschlossen|vereinbart|
            umgezogen|ersetzt|übernommen|verlassen)\b|\bnicht mehr\b|\bseit (?:dem|der|letzte\w|DATE)|
            \bwir (?:nehmen|bleiben bei|steigen .* um|wechseln|stellen .* um)\b|\b(?:entschieden|beschlossen|
            vereinbart|ausgemacht|festgelegt)\b|\bab (?:DATE|MONTH|januar|februar|märz|april|mai|juni|juli|august|
            september|oktober|november|dezember|montag|dienstag|mittwoch|donnerstag|freitag|nächste\w \w+)\b
        """),
        DEADLINE: _joined(r"""
            DATE|\b(?:frist|stichtag|abgabetermin)\b
        """),
        FACT: _joined(r"""
            \b(?:gehört|zuständig|verantwortlich|kümmert sich|heißt|heisst|liegt (?:auf|im|in|bei)|steht (?:im|in|
            auf)|läuft (?:auf|unter)|(?:den|die|das) hat|betreut|wir (?:nutzen|verwenden|benutzen))\b|
            \b(?:unser\w*) \w+ (?:ist|sind|hat|haben|heißt|läuft|liegt|steht|kommt)\b|\b(?:macht|leitet|verwaltet|
            unterschreibt|genehmigt|prüft|braucht|kostet|öffnet|schließt|beginnt|endet|dauert|gilt|bedeutet|
            besteht aus|stammt|kommt (?:aus|von|mit|in|als)) \w+|\bjede[nrs]? (?:zweite\w? )?(?:montag|dienstag|
            mittwoch|donnerstag|freitag|samstag|sonntag|tag|woche|monat|quartal|jahr|morgen|abend|nacht|mai|
            \w+er)\b|\b(?:täglich|wöchentlich|monatlich|jährlich|vormittags|nachmittags|werktags)\b|\bist (?:unser|
            mein|der|die|das|ein)\w* \w+|\b(?:steht|stehen|liegt|liegen|läuft|laufen|gelten|
            gilt) (?:\w+ ){0,2}(?:in|im|auf|unter|bei|für|zwischen|mindestens|höchstens|\w+)\b|\b(?:in |
            im )?(?:unser\w*|hier im|hier in) \w+
        """),
        CORRECTION: _joined(r"""
            \b\w+.*, (?:nicht|kein\w*) [\w\'./ -]{2,30}[.!]?$
        """),
    },
    "fr": {
        REQUEST: _joined(r"""
            (?:(?:merci de|tu peux|il faut|s'il te plaît) )*(?:reten(?:ir|ez)|retiens|(?:souviens|rappelle)-toi|
            souvenez-vous|n'oublie(?:z)? pas|gard(?:e|ez|er)(?: ça| cela| bien)? (?:en|à|
            dans) (?:un coin de )?(?:(?:ta|votre|la) )?(?:tête|mémoire|l'esprit)|à (?:retenir|noter)|pour mémoire|
            not(?:e|ez|er)(?:-le|-la|-les)?(?= (?:que|qu'|pour|bien|ça|dans)| ?:)|mémorise(?:z|r)?|
            enregistre(?:z)?(?= (?:que|qu'|ça))|prends note|sache(?:z)?(?= que)|pour la (?:suite|prochaine fois)|
            à l'avenir|désormais|dorénavant|à partir (?:de maintenant|d'aujourd'hui)|
            nouvelle règle(?= ?:))(?:(?:-| )(?:le|la|les)\b)?(?: (?:une fois pour toutes|ça|cela|bien|ceci|
            pour (?:la suite|la prochaine fois|plus tard)|dans (?:tes|vos) notes|s'il te plaît)\b)*(?: (?:que\b|
            qu'))?
        """),
        PROFILE: _joined(r"""
            \bje suis (?:allergique|daltonien\w*|végétarien\w*|végan\w*|gauch\w+|à|au|en|prof\w*)\b|\b(?:j'habite|
            je travaille)\b|\bj'ai une? (?:\w+ )?(?:allergie|fille|fils|chien|chat|sœur|frère)|\bm(?:a|on) (?:femme|
            mari|fils|fille)\b|\ble (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b|\bje (?:ne )?(?:mange|
            bois|supporte|parle|lis)\b|\bm(?:a|on|es) (?:\w+ )?(?:frère|sœur|mère|père|parents|enfants|collègue\w*|
            voisin\w*|associée?|comptable|médecin|nom|adresse|compagn\w+)\b
        """),
        PREFERENCE: _joined(r"""
            \b(?:je préfère|j'aime(?:rais)?|je déteste|je n'aime pas|j'évite|je ne \w+ (?:pas|jamais))\b
        """),
        RULE: _joined(r"""
            \b(?:toujours|jamais|uniquement|seulement (?:avec|par|sur)|il (?:ne )?faut|interdit|obligatoire|
            au lieu de|chez nous|on (?:ne )?\w+ (?:pas|jamais))\b|\b(?:chaque|tou(?:s|tes|te) les?|aucune?|seule?s?|
            personne|rien)\b.*\b(?:doi(?:t|vent)|peu(?:t|vent)|est|sont|ont?|va|vont|passent?|porte)\b|\b(?:doi(?:t|
            vent)|peu(?:t|vent) pas|ne (?:doi|peu)\w*)\b|\b(?:au plus|au moins|maximum|minimum|exclusivement|sauf)\b
        """),
        CAUSE: _joined(r"""
            \b(?:la cause|c'était (?:bien )?l[ae]|ven(?:ait|ais) d[eu]|ça (?:marche|a réglé)|résolu|corrigé)\b|
            \b(?:la solution|le problème|l'erreur|le coupable|la faute) (?:était|est|c'est|venait)\b|\b(?:c'est|
            c'était) (?:\w+ ){0,3}qui (?:bloquait|plantait|causait)\b|\b(?:réparé|réglé|résolu) en\b|\bparce que\b
        """),
        CHANGE: _joined(r"""
            \b(?:nous avons|on a|on est) (?:\w+ ){0,2}(?:décidé|passés?|changé|migré|choisi|convenu|remplacé)\b|
            \bfermée?s? depuis\b|\bn[e'] ?\w+ plus\b|\b(?:on|nous) (?:part(?:ons)?|reste|restons|garde|gardons|
            prend|prenons|passe|passons) (?:sur|avec|à|au|le|la|les|en)\b|\b(?:on a|nous avons|
            j'ai) (?:\w+ )?(?:choisi|décidé|retenu|tranché|arrêté|opté|abandonné)\b|\bà partir (?:de|du|d')|
            \bdepuis (?:DATE|le|la|janvier|mars)
        """),
        DEADLINE: _joined(r"""
            DATE|\b(?:échéance|date limite)\b
        """),
        FACT: _joined(r"""
            \b(?:s'occupe d[eu]|responsable|chargée? d[eu]|s'appelle(?:nt)?|appartient|se trouve|tourne sur|
            on utilise)\b|\b(?:notre|nos) \w+|\bc'est \w+ qui\b|\b(?:valide|signe|gère|dirige|paie|coûte|ouvre|
            ferme|commence|finit|dure|signifie|veut dire|livre|facture|arrive|vient d[eu]|se fait|se font|
            se range\w*|fournit)\b \w+|\b(?:sont|est) (?:stocké|rangé|gardé|écrit|compté|mesuré|facturé|payé|
            numéroté|hébergé|valable|limité|réservé|conservé|exprimé)\w*\b|\b(?:chaque|tous les|
            toutes les) (?:\w+ )?(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|jour|semaine|mois|trimestre|
            an|matin|soir|année)s?\b|\bles (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s\b
        """),
        CORRECTION: _joined(r"""
            \b\w+.*, (?:(?:et )?pas|non) [\w\'./ -]{2,30}[.!]?$
        """),
    },
    "es": {
        REQUEST: _joined(r"""
            (?:(?:por favor|quiero que|no te) )*(?:recu[eé]rda(?:lo|te)?|recuerdes?|acuérdate|apúnta(?:te|lo)?|
            apunta|anóta(?:lo|te)?|anota|memoriza|toma nota|ten(?:lo)? (?:en cuenta|presente)|tenga en cuenta|
            (?:no (?:te )?)?olvides|que no se te olvide|guarda(?= (?:esto|eso|en|que|para))|guárdalo|(?:a partir|
            de) (?:de )?ahora(?: en adelante)?|en adelante|para la próxima(?: vez)?|para el futuro|en el futuro|
            que conste|nueva (?:regla|norma)(?=:))\b(?: (?:esto|eso|en (?:memoria|tus notas)|para (?:la próxima|
            el futuro|luego|siempre))\b)*(?: (?:de )?que\b)?
        """),
        PROFILE: _joined(r"""
            \bsoy (?:alérgic\w|daltónic\w|vegetarian\w|vegan\w|zurd\w|de)\b|\b(?:vivo|trabajo) (?:en|de|para)\b|
            \btengo (?:alergia|un[ao]? (?:hij[oa]|perr\w|gat\w|herman\w))|\bmi (?:mujer|marido|hij[oa]|jef[ea])\b|
            \blos (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)\b|\b(?:no )?(?:como|bebo|hablo|leo|
            puedo comer|tolero)\b|\bmi (?:\w+ )?(?:herman\w|madre|padre|soci\w|vecin\w|abuel\w|prim\w|ti[oa]|
            compañer\w|contable|nombre|dirección|correo|pareja|novi\w)\b|\bmis (?:padres|hijos|hermanos)\b|
            \btrabajo de\b
        """),
        PREFERENCE: _joined(r"""
            \b(?:prefiero|(?:no )?me gusta\w*|odio|me encanta\w*|evito)\b
        """),
        RULE: _joined(r"""
            \b(?:siempre|nunca|jamás|únicamente|solo (?:con|por|en)|no se (?:debe|puede)|prohibido|obligatorio|
            en vez de|en lugar de|hay que)\b|\b(?:cada|todos?|todas?|ning[uú]n\w*|nadie|nada|solo|
            sólo)\b.*\b(?:debe\w?|puede\w?|tiene\w? que|va\w?|es|son|está\w?|lleva\w?|se \w+)\b|\b(?:deben?|
            no pueden?|tienen? que)\b|\b(?:como (?:máximo|mínimo)|sin excepción|salvo)\b
        """),
        CAUSE: _joined(r"""
            \b(?:la causa|era por|se (?:arregló|solucionó|resolvió)|lo (?:arregló|solucionó)|el problema (?:era|
            fue))\b|\b(?:fue|era) (?:culpa|por culpa|porque|el)\b|\b(?:lo que )?(?:ayudó|funcionó|arreglé|
            arreglamos|solucioné)\b|\bla (?:causa|solución|culpa) (?:era|fue|es)\b|\bporque\b
        """),
        CHANGE: _joined(r"""
            \b(?:hemos|nos hemos) (?:\w+ ){0,2}(?:decidido|cambiado|pasado|acordado|mudado|migrado)\b|
            \b(?:decidimos|cambiamos|pasamos)\b|\bya no\b|\bdesde (?:el|la|DATE)|\b(?:nos )?(?:quedamos con|
            vamos con|elegimos|acordamos|escogimos|dejamos de|hemos (?:elegido|dejado|quedado))\b|\b(?:a partir d|
            desde )(?:el|de)? ?(?:DATE|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|
            noviembre|diciembre|lunes|martes)\b|\bhe decidido\b
        """),
        DEADLINE: _joined(r"""
            DATE|\b(?:plazo|fecha límite)\b
        """),
        FACT: _joined(r"""
            \b(?:se encarga de|responsable de|se llama\w*|pertenece a|está en|corre en|usamos|utilizamos)\b|
            \bnuestr[oa]s? \w+|\bes (?:quien|la que|el que|nuestr\w|mi)\b|\b(?:firma|lleva|gestiona|aprueba|paga|
            cuesta|abre|cierra|empieza|termina|dura|significa|entrega|llega|viene|trabaja|reparte|vende|necesita|
            acepta|se (?:guarda|mide|cuenta|paga|factura|hace|entrega|cobra|escribe)n?)\b \w+|\b(?:cada|todos los|
            todas las) (?:\w+ )?(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo|día|semana|mes|año|mañana|
            noche)s?\b
        """),
        CORRECTION: _joined(r"""
            \b\w+.*, (?:(?:y )?no) [\w\'./ -]{2,30}[.!]?$
        """),
    },
    "pt": {
        REQUEST: _joined(r"""
            (?:(?:por favor|quero que você|não se|não te) )*(?:lembr[ae](?:-te|-se)?|lembres?|guard[ae](?= (?:isso|
            isto|essa|na|aí|que|bem))|anot[ae]|memoriz[ae]|registr[ae]|regist[ae]|grav[ae](?= (?:isso|aí|que))|
            salv[ae](?= (?:isso|aí|que))|tom[ae] nota|te(?:nha|m|ns) em (?:mente|conta)|
            (?:não (?:se )?)?esque[çc]as?|a partir de agora|de agora em diante|daqui (?:p(?:a)?ra (?:a )?frente|
            em diante|por diante)|p(?:a)?ra (?:a )?próxima(?: vez)?|da próxima vez|no futuro|
            nova regra(?=:))\b(?: (?:disso|isso|disto|isto|aí|de|p(?:a)?ra (?:a )?próxima(?: vez)?|p(?:a)?ra sempre|
            na memória)\b)*(?: que\b)?
        """),
        PROFILE: _joined(r"""
            \bsou (?:alérgic\w|daltônic\w|vegetarian\w|vegan\w|canhot\w|de|d[ao])\b|\b(?:moro|trabalho) (?:em|n[ao]|
            com)\b|\btenho (?:alergia|uma? (?:filh[oa]|cachorr\w|gat\w|irmã\w?))|\bminha (?:mulher|esposa|filha|
            chefe)\b|\bmeu (?:marido|filho|chefe)\b|\b(?:às|aos) (?:segundas|terças|quartas|quintas|sextas|sábados|
            domingos)\b|\b(?:não )?(?:como|bebo|falo|leio|posso comer)\b|\b(?:minha|meu|meus) (?:\w+ )?(?:irm\w+|
            mãe|pai|pais|vizinh\w|avó|avô|prim\w|ti[oa]|sóci\w|colega|contador\w?|nome|endereço|namorad\w|noiv\w|
            filh\w+|espos\w)\b
        """),
        PREFERENCE: _joined(r"""
            \b(?:prefiro|(?:não )?gosto de|odeio|adoro|evito)\b
        """),
        RULE: _joined(r"""
            \b(?:sempre|nunca|jamais|somente|só (?:com|por|em|pode)|não (?:pode|se deve)|proibido|obrigatório|
            em vez de|tem que)\b|\b(?:cada|tod[oa]s?|nenhum\w*|ninguém|nada|só|apenas)\b.*\b(?:deve\w?|pode\w?|tem|
            têm|vai|vão|é|são|fica\w?|leva\w?|vem|entra\w?)\b|\b(?:devem?|não podem?|têm que|tem de)\b|
            \b(?:no máximo|no mínimo|sem exceção|exceto)\b
        """),
        CAUSE: _joined(r"""
            \b(?:então era|a causa|era por causa|resolv\w+|consert\w+|funciona com|o problema (?:era|foi))\b|
            \b(?:a solução|a culpa|o culpado) (?:era|foi|é)\b|\b(?:era|foi) (?:o|a|por causa|porque)\b|
            \bo que (?:ajudou|funcionou|resolveu)\b|\bporque\b
        """),
        CHANGE: _joined(r"""
            \b(?:decidimos|mudamos|passamos|trocamos|combinamos|migramos)\b|\bnão \w+ mais\b|\bdesde (?:o|a|DATE)|
            \b(?:ficamos com|vamos (?:de|com|ficar)|escolhemos|fechamos (?:com|em|o|a)|resolvemos|acertamos|
            desistimos|decidi)\b|\ba partir d[eo] (?:DATE|janeiro|fevereiro|março|abril|maio|junho|julho|agosto|
            setembro|outubro|novembro|dezembro|segunda)\b
        """),
        DEADLINE: _joined(r"""
            DATE|\b(?:prazo|data limite)\b
        """),
        FACT: _joined(r"""
            \b(?:cuida d[aoe]|responsável|se chama\w*|pertence a|fica em|roda em|usamos)\b|\bnoss[oa]s? \w+|\b(?:é|
            são) (?:quem|noss\w|meu|minha|a que|o que)\b|\b(?:assina|cuida|aprova|paga|custa|abre|fecha|começa|
            termina|dura|significa|entrega|chega|vende|precisa|(?:não )?aceita\w?|trabalha|se (?:guarda|mede|paga|
            faz))\b \w+|\b(?:toda|todo|todas as|todos os) (?:\w+ )?(?:segunda|terça|quarta|quinta|sexta|sábado|
            domingo|dia|semana|mês|ano|manhã|noite)s?\b
        """),
        CORRECTION: _joined(r"""
            \b\w+.*, (?:(?:e )?não) [\w\'./ -]{2,30}[.!]?$
        """),
    },
}

REQUESTS: tuple[str, ...] = (
    _joined(r"""
        [^,;:.!?]{0,40}\b(?:(?:in|to|into|auf|dans|en|na|nel|nella|i) (?:your|ur|dein(?:e|em|en)?|ta|tes|tu|sua|tua|je|
        jouw|din|ditt) (?:memory|notes|gedächtnis|notizen|mémoire|memoria|memória|geheugen|notities|minne|hukommelse)|
        (?:hang|hold) on to (?:this|that)(?: one)?|(?:for|fürs?|pour|para|per|voor|till) (?:\w+ ){0,3}?(?:next time|
        nächste mal|prochaine fois|próxima(?: vez)?|prossima volta|volgende keer|nästa gång))\b[^,;:.!?]{0,30}(?=[,;:])
    """),
    _joined(r"""
        (?:onthou(?:d)?|vergeet niet|noteer|schrijf (?:dit |dat )?op|hou(?:d)? (?:er )?(?:rekening mee|
        in gedachten)|vanaf nu|voortaan|in het vervolg|voor de volgende keer)\b(?: (?:dit|alsjeblieft|even|
        ook))*(?:,? dat\b)?
    """),
    _joined(r"""
        (?:ricorda(?:ti|telo)?|tieni (?:presente|a mente|conto)|segna(?:ti|telo)?|annota(?:ti)?|prendi nota|
        non dimenticar(?:e|ti)|memorizza|d(?:'|a )ora in (?:poi|avanti)|per la prossima volta|
        in futuro)\b(?: (?:questo|bene|di|per favore))*(?: che\b)?
    """),
    _joined(r"""
        (?:kom(?:me)? ihåg|minns|glöm inte|notera|skriv upp|anteckna|från och med nu|hädanefter|framöver|
        i fortsättningen|till nästa gång|husk(?:e)?|glem ikke|noter|skriv ned|fra nå av|fra nu af|
        fremover)\b(?: (?:det här|dette|detta|också))*(?:,? att?\b)?
    """),
    _joined(r"""
        (?:zapamiętaj|pamiętaj|zanotuj|zapisz(?: sobie)?|nie zapomnij|miej na uwadze|od teraz|odtąd|na przyszłość|
        zapamatuj si|pamatuj(?: si)?|nezapomeň|poznamenej si|od teď|do budoucna)\b(?:,? (?:że|że)\b)?
    """),
    _joined(r"""
        (?:запомни(?:те)?|помни(?:те)?|не забудь(?:те)?|запиши(?:те)?|имей(?:те)? в виду|впредь|на будущее|отныне|
        запам'ятай|пам'ятай|надалі)\b(?:,? що\b|,? что\b)?
    """),
)
"""Requests to remember in further languages: Dutch, Italian, Scandinavian, Polish and Czech, Russian and Ukrainian."""

ABOUT = Cue("about", "W", "entities", 0.7)
"""A sentence of a log whose subject is somebody's name: most sentences of a log tell how a day went."""

_NAME = r"(?P<name>[^\W\d_a-z][\w'’-]*(?: [^\W\d_a-z][\w'’-]*)?)(?: \([^()]*\))? "
PRONOUN = re.compile(
    r"(?:She|He|They|We|I|It|This|That|Er|Sie|Es|Il|Elle|Ils|Elles|On|Él|Ella|Ele|Ela|Wir|Ich|Je|Nous)\b"
)

_ABOUT: Mapping[str, str] = {
    "en": _joined(r"""
        (?:(?:now|still|no longer|also|always|never) )?(?:prefers|likes|dislikes|hates|loves|avoids|owns|leads|
        manages|maintains|works (?:at|for|on|from|as)|lives (?:in|at|with)|moved (?:to|from|into)|joined|
        left (?:the|our)|switched|decided (?:to|on|that)|is (?:allergic|responsible|in charge|called|our|based|due|
        moving|joining|leaving)|was (?:promoted|hired)|takes (?:care of|over)|took over|turns \d|launches|ships on|
        starts on|ends on|has decided)\b
    """),
    "de": _joined(r"""
        (?:mag|bevorzugt|hasst|liebt|leitet|betreut|arbeitet (?:bei|als|an|in)|wohnt (?:in|bei)|zieht (?:um|nach)|
        ist (?:zuständig|verantwortlich|allergisch)|hat (?:sich )?(?:entschieden|beschlossen|gewechselt|übernommen)|
        wird \d)\b
    """),
    "fr": _joined(r"""
        (?:préfère|aime|déteste|dirige|travaille (?:chez|à|pour)|habite|est (?:responsable|allergique|chargé)|
        a (?:décidé|déménagé|rejoint|quitté))\b
    """),
    "es": _joined(r"""
        (?:prefiere|odia|dirige|trabaja (?:en|para)|vive en|es (?:alérgic|responsable)\w*|se (?:mudó|encarga)|
        ha decidido|decidió)\b
    """),
    "pt": _joined(r"""
        (?:prefere|odeia|lidera|trabalha (?:em|n[ao]|para)|mora (?:em|n[ao])|é (?:alérgic|responsável)\w*|mudou|
        decidiu|cuida d[aoe])\b
    """),
}
AGREED = re.compile(
    _joined(r"""
    ^(?:we|i)(?: have|'ve)? (?:decided|agreed) (?:to|that|on|not)\b|^wir haben (?:beschlossen|uns (?:für|gegen))\b|
    ^(?:on a|nous avons) décidé (?:de|que)\b|^(?:hemos decidido|decidimos) \w+|^decidimos \w+
""")
)

ORDER = (CAUSE, CHANGE, PREFERENCE, PROFILE, RULE, CORRECTION, FACT, DEADLINE)
"""In which cues decide what a statement is."""

WEAK = (CHANGE, PROFILE, RULE, FACT, DEADLINE)
"""Cues that tell nothing where a sentence says how things are at the moment."""

MONTHS = _joined(r"""
    jan(?:\.|uary?|uar|vier|eiro)?|feb(?:\.|ruary?|ruar|rero)?|f[eé]v(?:\.|rier|ereiro)?|mar(?:\.|ch|s|zo|ço)?|märz|
    a[pb]r(?:\.|il)?|avril|ma[iy]o?|jun(?:e|i|io|ho)?|juin|jul(?:y|i|io|ho)?|juillet|aug(?:ust)?|août|agosto|
    set(?:embro)?|sep(?:t|tember|tembre|tiembre)?|o[ck]t(?:ober|obre|ubre)?|out(?:ubro)?|nov(?:ember|embre|iembre|
    embro)?|de[cz](?:ember|embro)?|décembre|diciembre|enero
""")
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.)?"
DATE = rf"\b(?:\d{{4}}-\d\d-\d\d|{_DAY}(?: de| of)? (?:{MONTHS})|(?:{MONTHS}) {_DAY})\b"

HYPOTHESIS = re.compile(
    _joined(r"""
    (?:^|[.,;] )(?:\W|and |but |und |et |e |y )*(?:if|wenn|falls|si|se)\b.*(?:\b(?:would|could|might|had|were|
    hätten?|wären?|wär|könnten?|würden?|\w+rai[st]|\w+sse|\w+(?:iera|áramos|iéramos|ieran)|\w+ría|
    hubiera|fuera)\b|\w'd\b)|\b(?:if|were|wenn|
    falls|si|se)\b.*\b(?:ever|one day|some ?day|irgendwann|jemals|eines tages|un jour|jamais on|algún día|
    alguna vez|um dia|algum dia|wins?|won)\b|\b(?:would be (?:nice|cool|great)|maybe|perhaps|probably|presumably|
    i (?:guess|think|wonder|suppose)|might|could be|vielleicht|vermutlich|wahrscheinlich|ich glaube|eventuell|
    peut-être|sans doute|je crois|je pense|suppose|imagine|i wish|if only|one day|some ?day|in an ideal world|
    in theory|were i to|what if|let'?s say|could(?! (?:never|not|only))|should we|as if|obviously|
    i(?:'ll| will)? (?:always|never) (?:forget|understand|get|said|meant|knew|remember)|stell dir vor|angenommen|
    imagine|supposons|supón|imagina|suponha|quizás?|tal vez|creo que|a lo mejor|talvez|acho que|será que)\b
""")
)
IRONY = re.compile(
    _joined(r"""
    (?:\b(?:lol|hah|heh|joking|lmao|rofl|haha\w*|hehe\w*|kkk+|rsrs|mdr|ptdr|jaja\w*|jeje\w*|xd)\b|[:;]-?[)DP](?!\w)|[😂🤣😄😉😜🙃🙄😏]|
    /s\b|\b(?:yeah right|sure,? because|just kidding|kidding|scherz|witz|blague|broma|brincadeira)\b)
"""),
    re.IGNORECASE,
)
PASSING = re.compile(
    _joined(r"""
    \b(?:today|tomorrow|tmrw|tonight|yesterday|right now|this (?:time|run|week|morning|afternoon|evening|month|one)|
    for now|just now|at the moment|currently|so far|in (?:a|an|ten|five|\d+|a few) (?:minutes?|sec\w*|bit|hours?|
    days?)|later (?:on|this|in the day)|next week|by (?:eod|noon|lunch|\w+day)|before (?:lunch|noon|the (?:demo|
    standup|call|meeting))|until (?:i|we|then|\w+day|later)|(?:the|that) (?:first|second|third|last|other|next|
    latter|former)(?: one)?(?=[.,!]?$|,)|th(?:at|is) one|(?:in|for|on) th(?:is|e) (?:pr|branch|commit|diff|run|
    draft|round|file)|(?:just )?this once|temporarily|meanwhile|in the meantime|vorübergehend|erstmal|bis morgen|
    nachher|später|nächste woche|danach|afterwards|pour l'instant|tout à l'heure|ce (?:soir|matin)|
    la semaine prochaine|por ahora|esta (?:tarde|noche)|por enquanto|hoje à|semana que vem|heute|jetzt gerade|
    diesmal|gestern|gerade|im moment|diese woche|aujourd'hui|demain|maintenant|cette (?:fois|semaine)|en ce moment|
    hoy|mañana|ahora|ayer|esta (?:vez|semana)|hoje|amanhã|agora|ontem|dest[ae] vez|dessa vez|est[ae] semana)\b
""")
)
STANDING = re.compile(
    _joined(r"""
    \b(?:always|never|instead of|rather than|everywhere|every time|whenever|stop \w+ing|let'?s (?:go|stick|
    stay) with|directly|by hand|without|unless|we (?:here|only)|wir (?:hier|nur)|bei uns|chez nous|how (?:i|
    we) (?:work|do|like)|immer|nie(?:mals)?|grundsätzlich|überall|statt|so arbeite|toujours|jamais|partout|au lieu|
    siempre|nunca|en vez|sempre|em vez)\b|, (?:not|nicht|kein\w*|pas|no|não) \w
""")
)
"""Makes of an order a rule: it holds every time."""

TASK = re.compile(
    _joined(r"""
    (?:(?:ok(?:ay)?|and|now|then|so|please|pls|also|just|go|can you|could you|let'?s|lets|und|dann|bitte|et|puis|e|
    y)\W+)*(?:fix|run|rerun|add|remove|delete|rename|revert|undo|push|pull|commit|check|try|test|show|print|make|
    build|rebuild|bump|open|close|write|rewrite|change|update|look|use|put|leave|drop|turn|plan|book|deploy|
    redeploy|squash|merge|draft|create|implement|refactor|explain|find|give|tell|send|move|copy|install|start|stop|
    restart|keep|skip|ignore|round|split|help|do|go|continue|set|replace|wait|see|get|read|list|search|convert|
    format|clean|zeig|lass|mach|schau|bau|nimm|prüf|teste|starte|füg|ändere?|schreib|relance|montre|fais|regarde|
    ajoute|supprime|mets|lance|corrige|ejecuta|haz|muestra|añade|borra|mira|pon|corre|roda|mostra|faz|testa|
    reinicia|coloca|adiciona|apaga|olha|manda)\b
""")
)
MOMENT = re.compile(
    _joined(r"""
    \b(?:(?:is|are|was|were|'s|be|looks?|seems?|gets?|got|still|now|keeps?) (?:\w+ )?(?:pass(?:es|ed|ing)?|fail(?:s|
    ed|ing)|broken|green|red|fine|done|ready|wrong|right|missing|gone|stuck|empty|weird|odd|stale|ok|okay|
    crash(?:ed|ing)|hanging|good|great|better|worse|working|running|failing|in the way|off)|again|
    \d[\w%]* (?:\w+ )?(?:instead of|rather than|au lieu de|statt|en vez de|em vez de) \d|(?:test|build|check|job|
    pipeline)s? (?:fails?|pass(?:es)?|is|are) |typo|err(?:or|ors|ored)|(?:sind|ist) (?:\w+ ){0,2}(?:rot|grün|kaputt|
    fertig|falsch|leer)|wieder|noch immer|immer noch|(?:est|sont) (?:toujours|encore)|(?:ne |n')?(?:marche|
    fonctionne)|encore|(?:siguen?|está|están) \w+|otra vez|de novo|(?:está|estão) \w+|funciona)\b
""")
)
"""Says how things are at the moment, where no rule, wish or decision is made."""

SECRET = re.compile(
    _joined(r"""
    \b(?:pass(?:word|phrase|code)|pin(?: code)?|api[ -]?key|token|credentials?|secret|passwort|kennwort|
    mot de passe|code d'accès|contraseña|clave|senha)\b[^.]{0,20}?(?:\bis\b|\blautet\b|\bist\b|\best\b|\bes\b|\bé\b|
    [:=])\s*(?!(?:in|on|at|with|by|under|kept|stored|rotated|the|a|an|not|no|never|always|im|in der|dans|en|na|
    no)\b)\S
""")
)
"""Says what a secret is; the shapes of keys are gone from a session before."""

REPORTED = re.compile(
    _joined(r"""
    \b(?:says?|said|wrote|writes|claims?|schrieb|schreibt|sagt|dit|écrit|a écrit|dice|escribió|diz|escreveu) ?(?::|
    ["“„«])|\b(?:docs?|documentation|readme|manual|wiki|page|site|website|article|book|blog|post|error|log|output|
    message|comment|linter|warning|template|mail|email|ticket|doku|fehler|anleitung|documentación|erreur|notice|
    manuel|mensagem|documentação)s? (?:also )?(?:says?|said|claims?|states?|reads|tells|recommends?|suggests?|sagt|
    dit|dice|diz)\b|\b(?:according to|per the|laut|selon|d'après|según|segundo) (?!plan|schedule)
""")
)
"""Hands on what somebody else said, or a text."""

LEAD_IN = re.compile(
    _joined(r"""
    ^(?=[^\n]*\b(?:says?|said|wrote|writes|sent|here'?s|here is|pasted?|from|e?-?mail|slack|message|ticket|issue|page|
    site|docs?|readme|wiki|article|post|thread|review|logs?|output|error|letter|flyer|contract|spec|changelog|
    transcript|hier ist|schreibt|schrieb|fehler|nachricht|voici|message|écrit|aquí está|mensaje|correo|dice|
    aqui está|mensagem|diz|escreveu)\b)[^\n]*:[ \t]*$(?!\n+\0)
"""),
    re.IGNORECASE | re.MULTILINE,
)
"""A line that announces a text."""

RETRACTION = re.compile(
    _joined(r"""
    \b(?:scrap|forget (?:that|it|about|what|the|everything|my)|after all|ignore (?:that|what i)|strike that|
    cancel that|correction|my mistake|i misspoke|let'?s not|on reflection|never ?mind|actually,? no|wait,? no|
    no,? wait|hm+,? wait|argh,? no|undo that|put \S+ back|i was wrong|scratch that|on second thoughts?|take it back|
    disregard|bin (?:that|it)|drop (?:that|the idea)|got (?:it|that) wrong|or rather|ignore my|i take that back|
    changed my mind|doch nicht|doch lieber|nein,? doch|vergiss (?:das|es|die|den)|streich das|
    ich hab mich (?:geirrt|vertan)|quatsch|ich nehm das zurück|finalement,? non|laisse tomber|oublie|
    tout compte fait|réflexion faite|je me suis trompée?|en fait,? non|olvida|olvídalo|mejor no|al final no|
    me equivoqué|esquece|deixa (?:pra lá|isso)|pensando bem|me enganei|melhor não|na verdade,? não)\b
""")
)
ASSENT = re.compile(
    _joined(r"""
    (?:yes|yep|yup|yeah|exactly|right|correct|indeed|ja|jep|genau|richtig|stimmt|oui|exact(?:ement)?|tout à fait|sí|
    exacto|claro|sim|isso|exato)\b
""")
)
BACKWARD = re.compile(
    _joined(r"""
    (?:it|that|this|they|them|he|she|those|these|its|thats|that's|it's|whats|what's|hes|he's|shes|she's|er|sie|es|
    das|dies|il|elle|ça|c'est|cela|ils|elles|eso|esto|ese|ele|ela|isso|isto|esse)\b
""")
)
"""A statement that begins so speaks of what came before it."""

POINTING = re.compile(
    _joined(r"""
    \b(?:it|that|this one|them|these|those|him|her|ihn|ihm|dies\w*|damit|dafür|ça|celui|celle|lo|eso|isso|ele|ela)\b
""")
)

STATE_QUESTION = re.compile(
    _joined(r"""
    (?:\W|so |then |also |und |et |e |y )*(?:is|are|does|do (?!you want)|has|have|was|were|ist|sind|hat|haben|war|
    est(?:-ce)?|sont|a-t-|es|está|son|tiene|é|são|tem)\b
""")
)
"""Asks how something is, not what to do."""

STATES = re.compile(
    _joined(r"""
    \b(?:is|are|was|were|has|have|isn'?t|aren'?t|stays?|wants?|needs?|uses?|ist|sind|war|hat|haben|bleibt|will|
    braucht|est|sont|ont|reste|es|está|son|tiene|queda|é|são|tem|fica|quer)\b
""")
)


@cache
def request_pattern() -> re.Pattern[str]:
    """A request to remember in any language, where a sentence or a clause begins."""
    each = (*(table[REQUEST] for table in TABLE.values()), *REQUESTS)
    return re.compile(_BEGIN + "(?:" + "|".join(f"(?:{one})" for one in each) + ")")


_BEGIN = (
    r"(?:^|[,;:.!?–—(-]\s*|\b(?:if|that|and|but|so|also|then|please|ok|und|aber|bitte|et|mais|y|pero|e|mas|en|och)\s+)"
)


@cache
def pattern(cue: Cue, languages: tuple[str, ...]) -> re.Pattern[str]:
    """What a cue looks like in these languages."""
    each = [TABLE[language][cue] for language in languages if cue in TABLE.get(language, {})]
    return re.compile("|".join(f"(?:{one})" for one in each).replace("DATE", DATE) or r"(?!)")


def subject(languages: tuple[str, ...], sentence: str) -> str:
    """The name that a sentence of a log, in its own letters, says something lasting of; "" for none."""
    found = _about(languages).match(sentence)
    return "" if found is None or PRONOUN.match(sentence) else found["name"]


@cache
def _about(languages: tuple[str, ...]) -> re.Pattern[str]:
    verbs = "|".join(_ABOUT[language] for language in languages if language in _ABOUT)
    return re.compile(f"{_NAME}(?:{verbs})" if verbs else r"(?!)")
