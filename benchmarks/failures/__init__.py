"""What failures of nodes cost under repair, greedy patching and whole restarts."""
