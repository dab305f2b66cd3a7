"""What makes a result doubtful, and which of many results to believe."""
