"""What would come of emptying nodes, or of moving gangs together, before it is done."""
