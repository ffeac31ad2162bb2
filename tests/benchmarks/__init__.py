"""Measuring: where the figures in README and Guide come from. Prints, asserts nothing."""
