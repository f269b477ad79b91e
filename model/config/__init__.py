"""The configuration: the shape of the `SchedulerConfig` manifest, its defaults, its values."""
