"""What nodes and descriptions of fabrics share: groups of switches, findings, discovery."""
