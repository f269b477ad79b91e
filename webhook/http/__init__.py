"""The HTTP side: a bounded server, and the application behind it."""
