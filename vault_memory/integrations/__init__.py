"""Installation into agents: editing their settings files, restoring them, and the log of their hooks."""
