"""The notes on disk: walk, read, guarded atomic write, ignore rules, undo history."""
