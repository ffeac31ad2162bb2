"""Owns what lies on disk: the vault's notes, the folders they are in, and the files kept beside them."""
