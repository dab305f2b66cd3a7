"""From records to effects with intervals; no input or output here."""
