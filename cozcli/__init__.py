"""Coz, a causal profiler: the command line and the one implementation of the analysis.

The packages follow the data: `launch` starts a program under the runtime library, `profile` reads
what the runtime wrote, `analysis` estimates effects from it, `reports` renders the result.
"""

__version__ = "0.9.0"
