"""Which results to show, and in which order."""
