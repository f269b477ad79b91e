"""Tests of scores taken apart."""
