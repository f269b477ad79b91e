"""Answers as documents: what commands print with `-o json`, and what is served over HTTP."""
