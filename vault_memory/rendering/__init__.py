"""How things look: text for people, Markdown for agents, JSON for scripts. It decides nothing."""
