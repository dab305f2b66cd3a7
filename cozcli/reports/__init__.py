"""Each module renders an `Analysis` in one format."""
