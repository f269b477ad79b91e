"""The batch solve: which gangs of the queue get room, then the best places for them."""
