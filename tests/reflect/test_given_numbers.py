"""A confidence that a person gives an opinion by hand: it is heard wherever it stands, once, and never twice told."""

import shutil
from pathlib import Path

import pytest
from reflecting import NORA, block, reflect, reflected, rewrite, small_vault
from sample import call

OPINIONS = "bank/opinions.md"
COFFEE = "Likes her coffee without milk"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = small_vault(tmp_path_factory.mktemp("v"))
    reflected(made)
    return made


@pytest.fixture
def root(written: Path, tmp_path: Path) -> Path:
    return shutil.copytree(written, tmp_path / "v")


def told(root: Path, path: str, name: str) -> list[str]:
    return [line for line in block((root / path).read_bytes(), name) if COFFEE in line]


@pytest.mark.parametrize(("path", "number"), [(OPINIONS, ".95"), (NORA, ".95"), (OPINIONS, "95%")])
def test_it_is_heard_on_every_page_that_tells_the_opinion(root: Path, path: str, number: str) -> None:
    rewrite(root, path, f"**.80** {COFFEE}", f"**{number}** {COFFEE}")
    reflected(root)
    for page, name in ((OPINIONS, "opinions"), (NORA, "facts")):
        assert [line[:9] for line in told(root, page, name)] == ["- **.95**"]
    assert reflected(root).edits == ()


@pytest.mark.parametrize("number", ["1.5", "101%", "high", ""])
def test_one_that_is_no_number_stays_and_counts_for_nothing(root: Path, number: str) -> None:
    rewrite(root, OPINIONS, f"**.80** {COFFEE}", f"**{number}** {COFFEE}")
    ended = call("--vault", str(root), "reflect", "--now", "2025-12-10")
    assert ended.code == 0 and "between 0 and 1 and is ignored." in ended.out
    assert [line[: 6 + len(number)] for line in told(root, OPINIONS, "opinions")] == [f"- **{number}**"]
    assert [line[:9] for line in told(root, NORA, "facts")] == ["- **.80**"]
    assert reflect(root)["odd"] == []
