"""Gangs of an honest tenant beside what another one may submit."""
