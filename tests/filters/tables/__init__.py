"""Tables of small clusters, by what decides in them, with the nodes that are left worked out."""
