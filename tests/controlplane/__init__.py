"""A real Kubernetes control plane for tests: built from source, fake nodes by kwok."""
