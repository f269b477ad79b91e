"""Who decides where pods go: ours and three baselines, behind one protocol."""
