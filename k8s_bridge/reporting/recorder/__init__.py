"""The recorder: Events and status patches, written in the background; it may drop them."""
