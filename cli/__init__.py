"""The `fourleaf` command: one file per verb, effects at the edge, rendering apart."""
