"""Questions in seven languages and six scripts other than Latin, each over a vault of a dozen notes."""

from pathlib import Path

import pytest
from multilingual import NOW, Language, languages
from vaults import memory

from vault_memory.memory import Memory
from vault_memory.search.request import build

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


def contents(of: Memory, query: str, k: int = 5) -> list[str]:
    (answer,) = of.answers([build({"query": query, "k": k, "now": NOW}, of.config)], keep=False)
    return [result.content for result in answer.results]


@pytest.mark.parametrize("language", LANGUAGES, ids=ids)
def test_the_set_is_sound(language: Language) -> None:
    assert len(language.notes) >= 12 and len(language.questions) >= 14
    for asked in language.questions:
        holding = [path for path, text in language.notes.items() if asked.answer in text]
        assert len(holding) == 1, asked


def test_nine_of_ten_answers_are_among_the_first_five(asked: tuple[Language, Memory]) -> None:
    language, indexed = asked
    missed = [q for q in language.questions if not any(q.answer in text for text in contents(indexed, q.question))]
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
    for query, first in FORMS[language.name].items():
        assert first in contents(indexed, query, 1)[0]


def test_a_file_name_in_another_script_is_found(tmp_path: Path) -> None:
    for name, text in {"阳台种菜": "浇水最好在清晨。", "修车记录": "换了机油。", "Счета": "Оплачено."}.items():
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
    indexed = memory(tmp_path)
    indexed.index()
    assert contents(indexed, "种菜的笔记", 1) == ["浇水最好在清晨。"]
    assert contents(indexed, "счет", 1) == ["Оплачено."]
