"""Owns the index: its tables, what goes into them and out of them, and how it follows the vault."""
