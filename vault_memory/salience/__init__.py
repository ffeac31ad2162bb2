"""The trained judgement: what a sentence of a conversation or a line of a log is, and whether it is worth keeping."""
