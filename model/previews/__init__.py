"""What would come of emptying nodes, or of moving gangs together, before anybody does it."""
