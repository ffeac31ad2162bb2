"""Somebody who edits a vault in every way editors do, and knows what must stand in each note at the end."""

import os
import shutil
from pathlib import Path
from random import Random

from tests.benchmarks import made

WAYS = {"in_place": 40, "atomic": 25, "backup": 5, "new": 9, "rename": 9, "delete": 9, "move_folder": 0.3}
"""How often each kind of edit comes, of about a hundred; a folder's takes hundreds of notes along."""


class Editor:
    """Changes the notes of one vault of `made`; `saved` is what each note holds, `words` the word saved last in it."""

    def __init__(self, root: Path, seed: int = 1) -> None:
        self._root, self._random = root, Random(seed)
        self._edits = 0
        self.saved = {str(file.relative_to(root)): file.read_bytes() for file in sorted(root.rglob("*.md"))}
        self.words: dict[str, str] = {}

    def edit(self) -> str | None:
        """Do one thing to the vault; returns the path of a note that was saved."""
        self._edits += 1
        (way,) = self._random.choices(list(WAYS), list(WAYS.values()))
        path: str | None = getattr(self, f"_{way}")(self._random.choice(list(self.saved)))
        return path

    def differing(self) -> list[str]:
        """The notes that are not byte for byte what was saved, or not there, or there without having been saved."""
        found = {str(file.relative_to(self._root)): file.read_bytes() for file in self._root.rglob("*.md")}
        return sorted(path for path in found.keys() | self.saved.keys() if found.get(path) != self.saved.get(path))

    # --- kinds of edits ------------------------------------------------------------------------------------------

    def _in_place(self, path: str) -> str:
        (self._root / path).write_bytes(self._text(path))
        return path

    def _atomic(self, path: str) -> str:
        part = self._root / f"{path}.tmp{self._edits}"
        part.write_bytes(self._text(path))
        os.replace(part, self._root / path)
        return path

    def _backup(self, path: str) -> str:
        """As vim saves: the note becomes its own backup, is written anew, and the backup goes."""
        backup = self._root / f"{path}~"
        os.replace(self._root / path, backup)
        (self._root / path).write_bytes(self._text(path))
        backup.unlink()
        return path

    def _new(self, path: str) -> str:
        beside = str(Path(path).parent / f"new {self._edits}.md")
        return self._in_place(beside)

    def _rename(self, path: str) -> str:
        to = str(Path(path).parent / f"renamed {self._edits}.md")
        os.rename(self._root / path, self._root / to)
        self._moved(path, to)
        return to

    def _delete(self, path: str) -> None:
        if len(self.saved) > 1:
            (self._root / path).unlink()
            del self.saved[path]
            self.words.pop(path, None)

    def _move_folder(self, path: str) -> None:
        """Rename the folder of a note, and sometimes move it into or out of another."""
        folder = Path(path).parent
        to = self._random.choice([folder.parent, Path(), Path("attic")]) / f"folder {self._edits}"
        if folder == Path() or to.is_relative_to(folder):
            return
        (self._root / to).parent.mkdir(exist_ok=True)
        shutil.move(self._root / folder, self._root / to)
        for below in [path for path in self.saved if Path(path).is_relative_to(folder)]:
            self._moved(below, str(to / Path(below).relative_to(folder)))

    # --- what is known -------------------------------------------------------------------------------------------

    def _moved(self, path: str, to: str) -> None:
        self.saved[to] = self.saved.pop(path)
        if path in self.words:
            self.words[to] = self.words.pop(path)

    def _text(self, path: str) -> bytes:
        """Other text for a note, with a word that stands nowhere else."""
        self.words[path] = f"saved{self._edits}word"
        text = made.note(self._random.randrange(1000), 12, self._edits)[1]
        self.saved[path] = f"{text}The last word is {self.words[path]}.\n".encode()
        return self.saved[path]
