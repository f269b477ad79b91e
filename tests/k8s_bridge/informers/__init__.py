"""The reflector, on a scripted cluster and on the twin in memory."""
