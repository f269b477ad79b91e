"""The devices of a node: what they are, how they are linked, and which sets of them do."""
