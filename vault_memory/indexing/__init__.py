"""Keeps the index in step with the vault: diff, prepare, update, rebuild."""
