"""Text into plain data: strict YAML and JSON, and the files that they come from."""
