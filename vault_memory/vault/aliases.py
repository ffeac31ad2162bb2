"""Owns which notes change together with another path: links to what is there or may come there, other names of a file.

An event names one path; what else it changes can only be known beforehand.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

K = TypeVar("K")

_MOST_HOPS = 40
"""So many links in a row Linux follows."""

Inode = tuple[int, int]
"""Device and number of a file: all its names (hard links) have them."""


@dataclass
class Aliases:
    """`links` are notes by the paths they lead to and the folders above those, `names` notes that are one file."""

    links: dict[str, set[str]] = field(default_factory=dict)
    names: dict[Inode, set[str]] = field(default_factory=dict)

    def add_link(self, root: Path, link: str) -> None:
        """Note where a link leads, whether or not there is anything."""
        for path in set(_hops(root, link)):
            parts = path.split("/")
            for n in range(1, len(parts) + 1):
                self.links.setdefault("/".join(parts[:n]), set()).add(link)

    def add_names(self, status: os.stat_result, names: Iterable[str]) -> None:
        """Note names of a file that has several."""
        self.names.setdefault((status.st_dev, status.st_ino), set()).update(names)

    def knows(self, names: Mapping[Inode, set[str]]) -> bool:
        """Whether these names are known: a new one may belong to any note that had one name until now."""
        return all(paths <= self.names.get(inode, set()) for inode, paths in names.items())

    def joined(self, later: "Aliases") -> "Aliases":
        """These, and what was seen later; what no longer holds costs a look too many."""
        if not later.links and not later.names:
            return self
        return Aliases(_joined(self.links, later.links), _joined(self.names, later.names))

    def by_path(self) -> dict[str, set[str]]:
        """The notes to be looked at when something happens at a path."""
        found = dict(self.links)
        for names in self.names.values():
            if len(names) > 1:
                found |= {path: names | self.links[path] if path in self.links else names for path in names}
        return found


def _joined(one: dict[K, set[str]], other: dict[K, set[str]]) -> dict[K, set[str]]:
    return one | {key: paths | one.get(key, set()) for key, paths in other.items()}


def _hops(root: Path, link: str) -> Iterator[str]:
    """The paths inside the vault that a link leads to: by way of other links, and in the end."""
    inside = f"{root}{os.sep}".replace(os.sep * 2, os.sep)
    here, places = str(root / link), [os.path.realpath(root / link)]
    for _ in range(_MOST_HOPS):
        try:
            here = os.path.normpath(os.path.join(os.path.dirname(here), os.readlink(here)))
        except OSError:
            break
        places.append(here)
    yield from (place.removeprefix(inside).replace(os.sep, "/") for place in places if place.startswith(inside))
