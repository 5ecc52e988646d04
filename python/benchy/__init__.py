"""benchy's name for what is in `prony`: scripts that import it run as they
are. See `prony.torch`."""
