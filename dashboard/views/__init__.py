"""What pages show, as frozen data: the JSON of the API, and what the templates are filled with."""
