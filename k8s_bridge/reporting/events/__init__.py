"""Events, by what they are about."""
