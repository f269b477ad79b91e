"""What ships as YAML, against the code that it is for."""
