"""What happens to gangs that lose a node: three ways, behind one protocol."""
