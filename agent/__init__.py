"""The node agent: reads the devices of a node and publishes them."""
