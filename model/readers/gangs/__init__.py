"""From pods to gangs: the dialects, names, sizes, holds, and what concerns several gangs."""
