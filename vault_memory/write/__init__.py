"""Writing to the vault: retain, forget, edit, new notes, undo."""
