"""Steps of one's own before and after bindings, and the threads that they run in."""
