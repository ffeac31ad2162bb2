"""Renders results: text for people, Markdown for agents, JSON for scripts. It contains no other logic."""
