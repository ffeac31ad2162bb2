"""Owns vectors: made from text, kept in the spaces of their embedders, compared."""
