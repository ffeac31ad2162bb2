"""What a note says: frontmatter, facts, passages, links, entities; pure."""
