"""What the API says in protocol buffers, which are a third shorter than its JSON."""
