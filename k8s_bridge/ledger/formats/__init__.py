"""The formats of our Leases, one file each, and the envelope that every version can read."""
