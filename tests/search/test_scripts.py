"""Questions in seven languages and six scripts other than Latin, each over a vault of a dozen notes."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from multilingual import NOW, Language, languages
from vaults import memory

from vault_memory.memory import Memory
from vault_memory.search.recall_options import build

LANGUAGES = languages()


def ids(language: Language) -> str:
    return language.name


@pytest.fixture(scope="module", params=LANGUAGES, ids=ids)
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Language, Memory]:
    language: Language = request.param
    root = tmp_path_factory.mktemp(language.name)
    language.write(root)
    indexed = memory(root)
    indexed.index()
    return language, indexed


def contents(of: Memory, queries: Iterable[str], k: int) -> list[list[str]]:
    """What each of these is answered with, from one opened index."""
    requests = [build({"query": query, "k": k, "now": NOW}, of.config) for query in queries]
    return [[result.content for result in answer.results] for answer in of.answers(requests, keep=False)]


def test_nine_of_ten_answers_are_among_the_first_five(asked: tuple[Language, Memory]) -> None:
    language, indexed = asked
    found = contents(indexed, [asked.question for asked in language.questions], 5)
    told = zip(language.questions, found, strict=True)
    missed = [asked for asked, texts in told if not any(asked.answer in text for text in texts)]
    assert len(missed) <= 0.1 * len(language.questions), missed


FORMS = {
    "chinese": {"豆豆": "豆豆", "阳台种菜": "辣椒苗"},
    "japanese": {"ｔｏｅｉｃ": "TOEIC", "パンの差し入れ": "ﾊﾟﾝ"},
    "korean": {"회의": "회의에서", "민수는": "민수"},
    "arabic": {"الرُّكْبَة": "الركبة", "417": "٤١٧"},
    "russian": {"елка": "Ёлку", "помидор": "Помидоры"},
    "thai": {"ช่างไม้": "ช่างไม้"},
    "hindi": {"दफ्तर पुणे": "दफ़्तर"},
}


def test_a_word_finds_its_other_forms(asked: tuple[Language, Memory]) -> None:
    language, indexed = asked
    forms = FORMS[language.name]
    for first, (text,) in zip(forms.values(), contents(indexed, forms, 1), strict=True):
        assert first in text


def test_a_file_name_in_another_script_is_found(tmp_path: Path) -> None:
    for name, text in {"阳台种菜": "浇水最好在清晨。", "修车记录": "换了机油。", "Счета": "Оплачено."}.items():
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    indexed = memory(tmp_path)
    indexed.index()
    assert contents(indexed, ("种菜的笔记", "счет"), 1) == [["浇水最好在清晨。"], ["Оплачено."]]
