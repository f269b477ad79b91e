"""Tests of input that is refused: by file, object and field, with advice."""
