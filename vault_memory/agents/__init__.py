"""The interfaces for agents: hooks for Claude Code and opencode, and the MCP server."""
