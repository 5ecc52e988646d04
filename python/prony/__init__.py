"""Prony's Python parts: programs that do in a framework what `prony run` asks
for, and what they share."""

__version__ = "0.1.0"
