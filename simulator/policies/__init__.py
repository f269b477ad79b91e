"""Who decides where gangs go: ours and four baselines, behind one protocol."""
