"""How fast the webhook answers, and what a change of its certificate costs its clients."""
