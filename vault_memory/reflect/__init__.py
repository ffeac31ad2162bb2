"""Turns facts into pages. It reads the index, never its own pages, and writes only its own blocks."""
