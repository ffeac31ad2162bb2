"""Stores the SQLite index, and is the only package that uses SQL: schema, rows, queries, vectors; also the journal."""
