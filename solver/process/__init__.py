"""The solver process as its parent sees it: calls with a deadline, a supervisor, messages."""
