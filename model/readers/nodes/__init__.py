"""Nodes of the input, the devices that they have, and the fabric that they form."""
