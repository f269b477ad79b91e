"""Pictures of replays: one sheet as PNG, and a page that needs nothing else."""
