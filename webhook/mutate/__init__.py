"""What is added to pods, each kind of addition in its own file."""
