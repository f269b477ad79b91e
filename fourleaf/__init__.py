"""Fourleaf: a constraint-solver gang scheduler for GPU clusters on Kubernetes.

The rooms stand at the top of the repository; this package links to each of them, so that an
installation puts one name beside other people's modules.
"""
