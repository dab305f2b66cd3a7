"""Load amplification: `coz amp`, the options of `coz run`, the estimate of scalability, and its reports."""
