"""The certificate of the server: where it comes from, and how it is replaced while in use."""
