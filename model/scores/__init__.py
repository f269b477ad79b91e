"""What a place is worth to a gang, taken apart: terms, what decided, and two plans compared."""
