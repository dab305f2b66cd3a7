"""Texts that `coz run` shows: what happened, what follows, and what to do."""
