"""What a verb needs of a cluster: a connection, its objects, the scheduler's server, patches."""
