"""From vault to store: diff, prepare, refresh, rebuild."""
