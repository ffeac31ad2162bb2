"""Proposes facts from what was said in sessions and written in logs."""
