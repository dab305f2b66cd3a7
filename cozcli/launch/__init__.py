"""From a command line to a running, profiled program."""
