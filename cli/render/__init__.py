"""From plans to what people read: pure functions that return rich renderables or text."""
