"""From records to arrays: which windows can be used, and what they say of each progress point."""
