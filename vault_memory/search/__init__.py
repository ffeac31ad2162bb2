"""Takes a question to a cited answer: query, candidate lanes, ranking, packing."""
