"""From records to effects with intervals; no input or output here."""

#: What the analysis needs besides Python.
PACKAGES = ("numpy", "scipy")
