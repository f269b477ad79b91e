"""What clouds tell a machine of where it stands: one file each, behind one door."""
