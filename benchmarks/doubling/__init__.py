"""Real programs in which a function runs twice: truth beside prediction."""
