"""Where the node stands in its fabric, by what its host and its cloud say."""
