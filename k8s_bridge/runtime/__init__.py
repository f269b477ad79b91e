"""What every program needs: time, randomness, back-off, logs, a small HTTP server."""
