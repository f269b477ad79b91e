"""Tests of the readers of Kubernetes manifests."""
