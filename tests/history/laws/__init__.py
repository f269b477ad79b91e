"""The laws that a history must keep, one a file."""
