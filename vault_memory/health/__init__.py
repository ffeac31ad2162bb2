"""Reports on a vault: its state, problems with vault, index and notes, and statistics."""
