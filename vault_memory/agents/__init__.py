"""What agents talk to: the hooks of Claude Code and opencode, and the MCP server."""
