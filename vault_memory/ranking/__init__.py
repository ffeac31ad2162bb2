"""Owns the order of what was found: evidence in, scores and a packed selection out. Pure."""
