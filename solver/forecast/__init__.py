"""The earliest start of gangs that wait (docs/model.md, section 9)."""
