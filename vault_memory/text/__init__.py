"""Pure helpers for words, languages and dates that every other package may import."""
