"""What the solver adds where a scheduler that goes one by one leaves somebody waiting."""
