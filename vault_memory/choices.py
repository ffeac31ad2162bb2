"""Owns the words that options of recall may have; the command line shows them before anything else is imported."""

MODES = ("auto", "hybrid", "lexical", "semantic")
PRESETS = ("tuned", "weighted", "classic", "rrf")
FORMATS = ("markdown", "json", "xml")
NOTES, SESSIONS = "notes", "sessions"
SOURCES = (NOTES, SESSIONS, "all")
TOOLS = ("claude-code", "opencode", "openclaw")
"""Whose sessions can be a source."""

REFLECTED = ("entities", "opinions", "summaries", "proposals")
"""What a reflect can be limited to."""
