"""The admission server: checks and completes pods and claims."""
