"""From bytes on disk to typed records; no statistics here."""
