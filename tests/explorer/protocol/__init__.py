"""A model of the commit protocol, written from its description and not from its code."""
