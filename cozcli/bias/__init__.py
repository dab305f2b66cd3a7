"""`coz bias`: does a benchmark measure the program, or where its memory happens to lie?

Data flow: `factors` (what can be moved here) → `plan` (which runs, in which order) → `measure` (runs, without
the machine's drift) → `shares` (variance by factor) and `spikes` (slow places, tested on fresh runs) →
`objects` (what lies there) → `verdict` → `report` and `figure`. Runs are those of `cozcli.compare`.
"""

#: Python packages that the statistics need.
PACKAGES = ("numpy", "scipy")
