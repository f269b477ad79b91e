"""What is refused, each concern in its own file."""
