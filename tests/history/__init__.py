"""A checker of what happened: it judges by the API alone and shares no code with the bridge."""
