"""The product as it runs: against a real kube-apiserver, by its shipped rights."""
