"""What an agent is handed: core notes, recent days, passages for a prompt."""
