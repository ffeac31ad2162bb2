"""Owns the answering of questions: the lanes, what they find, and what is told of it."""
