"""All policies on public traces, load by load."""
