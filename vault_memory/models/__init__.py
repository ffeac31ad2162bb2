"""Owns the models of servers that somebody configured: how they are known, asked and checked."""
