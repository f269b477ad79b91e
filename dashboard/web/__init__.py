"""The HTTP side of the dashboard: who may come in, the API, the pages."""
