"""`domain`: the penalty for a place outside of the domain that the gang prefers. Subtracted.

All of it for each pod outside, where the fabric has that domain; nothing else is worth as much, so
that gangs stand there wherever a law lets them, unless the config gives it less weight.
"""

NAME = "domain"
