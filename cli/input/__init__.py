"""What a verb is given: options, files, gang names, traces."""
