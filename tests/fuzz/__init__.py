"""Every reader of bytes that a tenant can write, fed with hostile ones."""
