"""Dynamic resource allocation: devices by ResourceSlices, demands by ResourceClaims."""
