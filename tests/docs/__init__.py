"""The documents: what is written from the code, and every command in them, tried."""
