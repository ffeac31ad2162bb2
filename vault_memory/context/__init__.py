"""Builds the context given to an agent: core notes, recent days, passages for a prompt."""
