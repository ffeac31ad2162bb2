"""Embeds text with the builtin model, or with configured models on their servers."""
