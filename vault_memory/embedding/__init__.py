"""Embeds text: the builtin model, and configured models behind their servers."""
