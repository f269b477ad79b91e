"""One scheduling cycle: holds, the solve, and what of the plan is still true after it."""
