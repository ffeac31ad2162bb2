"""From a question to a cited answer: lanes, ranking, packing."""
