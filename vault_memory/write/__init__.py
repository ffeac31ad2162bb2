"""Retain, forget, edit, new notes."""
