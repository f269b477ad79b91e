"""Who holds what: pages, gang leases, and the writes that turn a plan into bound pods."""
