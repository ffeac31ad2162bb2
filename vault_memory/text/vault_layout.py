"""The configured locations of a vault's generated pages, core and daily notes. Pure."""

import posixpath
from typing import NamedTuple


class Layout(NamedTuple):
    """The names of a vault's folders and of its core; `daily_folder` is "" when daily notes are in the root."""

    bank: str = "bank"
    """The folder of the pages generated from facts."""
    core: str = "memory.md"
    daily_folder: str = "memory"

    @property
    def cores(self) -> tuple[str, ...]:
        """Candidate paths of the core: the first that exists is used."""
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
        """The page where proposals for the core, and captured facts, wait for a person to tick them."""
        return f"{self.bank}/proposals.md"

    def summary(self, name: str) -> str:
        """The path of the page of the period with this name."""
        return f"{self.summaries}{name}.md"

    @property
    def clash(self) -> str:
        """A sentence on conflicting names: daily notes among generated pages, or the core as one of them; else ""."""
        bank, core = (posixpath.normpath(name).casefold() for name in (self.bank, self.core))
        daily = f"{posixpath.normpath(self.daily_folder or '.')}/".casefold()
        if daily == f"{bank}/" or daily.startswith((f"{bank}/entities/", f"{bank}/summaries/")):
            return f"`{self.daily_folder}` would hold daily notes and the pages made from them."
        made = (self.world, self.experience, self.opinions, self.proposals)
        if core in map(str.casefold, made) or core.startswith((f"{bank}/entities/", f"{bank}/summaries/")):
            return f"`{self.core}` would be the core and a page that is made from notes."
        return ""

    def is_page(self, path: str) -> bool:
        """Whether a path is in the bank and not in a daily folder inside it."""
        bank, daily = f"{self.bank}/", f"{self.daily_folder}/"
        return path.startswith(bank) and not (daily.startswith(bank) and path.startswith(daily))


STANDARD = Layout()
