"""Owns what a note says: its text read as lines, facts, links, entities, passages. Pure."""
