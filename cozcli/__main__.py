"""`python -m cozcli` is the command `coz`."""

import sys

from cozcli.cli import main

if __name__ == "__main__":
    sys.exit(main())
