"""Owns the making of the builtin vectors; a tool for maintainers that nothing imports when the program runs."""
