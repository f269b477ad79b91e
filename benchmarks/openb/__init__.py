"""How full a cluster of shared GPUs becomes, after FGD (Weng et al., ATC 2023)."""
