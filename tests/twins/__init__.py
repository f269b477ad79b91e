"""What plays the rest of a cluster for tests alone: time, kubelets, Jobs and drivers of devices."""
