"""What was before: changes of the last hour, and figures over a day."""
