"""What `fourleaf tune` finds on a public trace."""
