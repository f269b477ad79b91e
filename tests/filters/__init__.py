"""The filters of kube-scheduler itself, as the oracle for where a pod may go."""
