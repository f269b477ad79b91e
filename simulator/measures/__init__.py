"""From the record of a replay to figures, and to the document that holds them."""
