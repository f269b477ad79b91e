"""The families of faults, each drawn from the seed's own stream of chance."""
