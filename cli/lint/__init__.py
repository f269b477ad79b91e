"""What `fourleaf lint` says of an input beyond the problems that readers find."""
