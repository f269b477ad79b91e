"""The cluster as the scheduler knows it: what informers say, and what it did itself."""
