"""Pods of the input: where each may go, and which devices it asks for."""
