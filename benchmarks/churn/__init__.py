"""Half an hour of churn, to see whether anything grows."""
