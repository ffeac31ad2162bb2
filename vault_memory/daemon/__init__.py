"""The daemon of a vault: it watches, indexes and answers; its clients, and how the system starts it."""
