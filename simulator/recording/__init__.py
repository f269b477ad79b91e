"""A cluster's gangs and nodes, written as they come and go: a trace of one's own to replay."""
