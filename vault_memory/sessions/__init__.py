"""Transcripts of agents: formats, redaction, sync."""
