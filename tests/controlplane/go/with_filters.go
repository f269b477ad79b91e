package main

import "fourleaf/tests/controlplane/filters"

// A file of its own, because other releases of Kubernetes are built without it: what it calls is no
// API, and changes from one to the next.
func init() {
	others["kube-filters"] = filters.Main
}
