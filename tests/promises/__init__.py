"""What the documents of the three older schedulers promise, row by row, and what holds it here."""
