"""From the trouble to what settled it, by the identifier that the best lines name."""

from pathlib import Path

import pytest
from asking import ask
from sample import make_sample
from vaults import fill, memory

CAUSE = "- B(i=0.95) @Depot: Found what BUG-17 was: the second bus of the night line carried an older timetable."
LOGS = {
    "memory/2025-10-01.md": "## Retain\n- W @Depot: Ticket BUG-17: doors stay shut at the terminus now and then.\n",
    "memory/2025-10-02.md": "## Retain\n- B @Depot: The doors stay shut with a new motor too, so BUG-17 is no motor.\n",
    "memory/2025-10-03.md": "## Retain\n- B @Depot: Doors shut at the terminus again; checked every fuse.\n",
    "memory/2025-10-20.md": f"## Retain\n{CAUSE}\n",
    "memory/2025-10-21.md": "## Retain\n- W @Depot: New seats for BUG-17.\n- W(i=0.99) @Ida: Moves to Oslo.\n",
}


def found(root: Path, query: str, k: int = 4) -> list[str]:
    return [result.content for result in ask(memory(root), query, k=k).results]


def test_the_weightiest_fact_about_what_the_best_lines_name_is_told(tmp_path: Path) -> None:
    lines = found(fill(tmp_path, LOGS), "why did the doors stay shut at the terminus?")
    assert CAUSE in lines
    assert "doors" in lines[0] and not any("Oslo" in line for line in lines)


def test_what_one_of_the_best_lines_names_by_the_way_leads_nowhere(tmp_path: Path) -> None:
    logs = {path: text.replace("so BUG-17 is no motor", "so it is no motor") for path, text in LOGS.items()}
    fillers = {f"memory/2025-09-{n:02}.md": f"The doors stay shut, terminus, day {n}.\n" for n in range(1, 9)}
    assert CAUSE not in found(fill(tmp_path, logs | fillers), "why did the doors stay shut at the terminus?")


@pytest.mark.parametrize("query", ["why were the tiles garbled?", "which version fixed the tiles?"])
def test_the_question_of_the_guide_finds_the_cause(tmp_path: Path, query: str) -> None:
    assert any("The cause of HO-212 is found" in line for line in found(make_sample(tmp_path / "vault"), query))
