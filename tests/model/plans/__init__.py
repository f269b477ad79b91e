"""Hand-made plans, by the law that they break."""
