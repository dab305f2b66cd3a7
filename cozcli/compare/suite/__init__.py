"""`coz compare --suite`: programs × treatments, in one experiment.

Data flow: `description` (the file) → `running` (all programs in turn) → `statistics` (Holm, analysis of
variance) → `report`.
"""
