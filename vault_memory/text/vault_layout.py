"""Where a vault keeps its pages, its core and its daily notes, as its settings name them. Pure."""

import posixpath
from typing import NamedTuple


class Layout(NamedTuple):
    """The names that a vault gives its folders and its core; the folder of daily notes is "" where that is the root."""

    bank: str = "bank"
    """The folder of the pages that are made from facts."""
    core: str = "memory.md"
    daily_folder: str = "memory"

    @property
    def cores(self) -> tuple[str, ...]:
        """The paths of which the first that is there is the core."""
        return (self.core, "MEMORY.md") if self.core == "memory.md" else (self.core,)

    @property
    def entities(self) -> str:
        return f"{self.bank}/entities/"

    @property
    def summaries(self) -> str:
        return f"{self.bank}/summaries/"

    @property
    def world(self) -> str:
        return f"{self.bank}/world.md"

    @property
    def experience(self) -> str:
        return f"{self.bank}/experience.md"

    @property
    def opinions(self) -> str:
        return f"{self.bank}/opinions.md"

    @property
    def proposals(self) -> str:
        """The page where what would be put into the core, or was captured, waits for somebody to tick it."""
        return f"{self.bank}/proposals.md"

    def summary(self, name: str) -> str:
        """The path of a period's page, by the period's name."""
        return f"{self.summaries}{name}.md"

    @property
    def clash(self) -> str:
        """In a sentence, what would be two things at once: a log among generated pages, or the core one; else ""."""
        bank, core = (posixpath.normpath(name).casefold() for name in (self.bank, self.core))
        daily = f"{posixpath.normpath(self.daily_folder or '.')}/".casefold()
        if daily == f"{bank}/" or daily.startswith((f"{bank}/entities/", f"{bank}/summaries/")):
            return f"`{self.daily_folder}` would hold daily notes and the pages made from them."
        made = (self.world, self.experience, self.opinions, self.proposals)
        if core in map(str.casefold, made) or core.startswith((f"{bank}/entities/", f"{bank}/summaries/")):
            return f"`{self.core}` would be the core and a page that is made from notes."
        return ""

    def is_page(self, path: str) -> bool:
        """Whether a path lies in the bank, and is no daily note there."""
        bank, daily = f"{self.bank}/", f"{self.daily_folder}/"
        return path.startswith(bank) and not (daily.startswith(bank) and path.startswith(daily))


STANDARD = Layout()
