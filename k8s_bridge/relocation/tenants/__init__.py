"""What one tenant may cost others by room that is kept for it, by its costs and by its ends."""
