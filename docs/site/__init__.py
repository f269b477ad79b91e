"""The site: what mkdocs makes of the documents."""
