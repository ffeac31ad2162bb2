"""Owns what is put into notes and taken out of them when somebody asks."""
