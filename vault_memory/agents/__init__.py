"""Owns what agents are given: what they may see, the sheet they are handed, the MCP server, further vaults."""
