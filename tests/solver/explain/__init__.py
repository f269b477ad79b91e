"""Tests of why gangs wait: kinds, counts, nearest misses and advice, worked out by hand."""
