"""vault-memory: a long-term memory kept in Markdown files you own."""

__version__ = "0.1.0"
