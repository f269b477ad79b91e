"""What the API says in protocol buffers, which take half the bytes of its JSON."""
