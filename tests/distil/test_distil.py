"""The parts of the vectors' making that need no model: pages, passages, packages, the file."""

import hashlib
import zipfile
from pathlib import Path

import pytest
from corpus import CLIPPED_WORDS, Corpus, blocks
from sources import SOURCES, Source, unpacked

from vault_memory.errors import UsageError

PAGE = """<html><head><title>T</title><style>p {}</style></head><body><nav><ul><li>Home</ul></nav>
<h2>2.1 Rolling   back<a href="#r">¶</a></h2><p>A <b>transaction</b> ends.</p><pre>ROLLBACK;</pre>
<div class="toctree"><div><p>never</p></div><p>nor this</p></div><ul><li>one<li>two</li></ul>tail</body></html>"""


def test_a_page_gives_headings_paragraphs_and_items_only() -> None:
    expected = [("h2", "2.1 Rolling back"), ("p", "A transaction ends."), ("li", "one"), ("li", "two")]
    assert [block for block in blocks(PAGE) if block[0]] == expected
    assert ("", "tail") in blocks(PAGE)


def wheel(folder: Path, name: str, text: str) -> Source:
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/words.txt", text)
    return Source("pip", name, "1.0", hashlib.sha256(path.read_bytes()).hexdigest(), "MIT")


def test_a_package_is_known_by_its_digest_and_unpacked_once(tmp_path: Path) -> None:
    source = wheel(tmp_path, "sample", "hello")
    folder = unpacked(source, tmp_path)
    assert (folder / "sample" / "words.txt").read_text() == "hello"
    (tmp_path / "sample-1.0-py3-none-any.whl").unlink()
    assert unpacked(source, tmp_path) == folder


def test_sources_are_named_once_with_a_digest_and_a_licence() -> None:
    assert len({source.name for source in SOURCES}) == len(SOURCES)
    assert all(len(source.sha256) == 64 and source.licence for source in SOURCES)


def test_a_package_without_its_files_is_an_error_not_an_empty_corpus(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="sqlite3-doc"):
        Corpus(lambda name: tmp_path).collect()


def test_long_sentences_are_clipped_and_headings_pair_with_what_follows(tmp_path: Path) -> None:
    corpus = Corpus(lambda name: tmp_path)
    corpus.page(f"<h1>Rolling back</h1><p>{'word ' * 300}.</p>")
    assert [len(text.split()) for text in corpus.passages] == [CLIPPED_WORDS]
    assert [heading for heading, _ in corpus.pairs] == ["Rolling back"]
