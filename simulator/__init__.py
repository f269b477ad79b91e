"""The simulator: traces replayed in virtual time on a fabric, under one policy or another."""
