"""Agent transcripts: reading, redacting and syncing them."""
