"""Runs the command line as `python -m vault_memory`."""

from vault_memory.cli import main

if __name__ == "__main__":
    main()
