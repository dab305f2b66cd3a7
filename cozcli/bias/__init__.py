"""`coz bias`: does a benchmark measure the program, or its memory layout?

Data flow: `factors` (what can be moved here) → `plan` (which runs, in which order) → `measure` (runs, without
the machine's drift) → `shares` (variance by factor) and `slow_places` (tested by `spikes` and `blocks` on
fresh runs, named by `objects`) → `verdict` → `report` and `figure`. Runs are those of `cozcli.compare`.
"""

#: Python packages that the statistics need.
PACKAGES = ("numpy", "scipy")
