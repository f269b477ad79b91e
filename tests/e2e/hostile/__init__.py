"""Tenants and clients that mean harm, on a real control plane with what ships."""
