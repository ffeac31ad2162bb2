"""Runs the command line as `python -m vault_memory`."""

import sys

if __name__ == "__main__":
    # `-m` puts the working folder first, which may be a vault from anywhere: its json.py must not be imported (law 8).
    if not sys.flags.safe_path:
        del sys.path[0]
    from vault_memory.cli import main

    main()
