"""From records to effects with intervals; nothing here reads or prints. The packages, in order:

* `input`: which windows can be used, and what they say of each progress point, as arrays;
* `correct`: what measurement does to periods, taken out of them; `chain.py` lists the corrections;
* `estimate`: effects, their intervals, the slope and the curve of each target;
* `check`: what makes a result doubtful (marks), and which of many results to believe;
* `rank`: which results to show, and in which order.

`analyse.py` is the whole pipeline, `compare.py` compares two analyses, `result.py` is the value that reports
render. `statistics` is what all of them use and knows nothing of profiles. A package imports only those
above it in this list, `statistics` and `result` (checked by `make lint`).
"""

#: What the analysis needs besides Python.
PACKAGES = ("numpy", "scipy")
