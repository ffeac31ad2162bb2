"""Owns what agents' tools write down of their sessions: read, made into plain text, kept in the user's data folder."""
