"""Owns what is known of human languages: words, dates and times. Pure."""
