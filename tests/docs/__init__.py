"""The documents, tried: every command in them is run as a reader would."""
