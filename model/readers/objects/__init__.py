"""What readers of every kind share: typed access to fields, problems, owners, annotations."""
