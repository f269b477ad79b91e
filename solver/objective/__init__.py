"""What a place is worth: the terms of the objective, and the points that they add up to."""
