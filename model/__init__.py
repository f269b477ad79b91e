"""The words of the product as frozen data: fabric, gangs, rules, weights, plan, reasons.

Pure functions only. Nothing here imports the solver or a Kubernetes client, so every
other room can stand on it.
"""
