"""One file per family of reasons, and what they all look at. Pure Python."""
