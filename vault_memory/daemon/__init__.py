"""The process that stays with a vault, how it is asked, and how the system starts it."""
