"""`coz compare`: is B really faster than A?

Data flow: `sides` (what is run) → `design` (in which order, with which layouts) → `layouts` and `trial` (one
run) → `collect` (blocks until the precision is reached) → `estimate` (ratio, interval, verdict) → `report`.
"""

#: Python packages that the statistics need.
PACKAGES = ("numpy", "scipy")
