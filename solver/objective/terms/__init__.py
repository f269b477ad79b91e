"""One file per objective term, each with its formula (docs/model.md, section 6).

A term is worth 0..1000 for one pod; the weight of the gang for that term, in thousandths,
times that, divided by 1000 and rounded down, are its points.
"""
