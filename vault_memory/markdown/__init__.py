"""Parsing of notes: frontmatter, facts, passages, links, entities; pure."""
